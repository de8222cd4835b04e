"""One function per tool: passes its input to the services, and describes the records it gets."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Prefetch, QuerySet, prefetch_related_objects
from django.utils import timezone

from agent_access.calls import CallContext, Page, Record, dump_json
from agent_access.database import transactions
from agent_access.tools import NoInput
from invoicing.access import Permission, people_listed, teams_listed
from invoicing.agent_tools import inputs, outputs, reading, shapes
from invoicing.errors import RecordNotFoundError
from invoicing.models import Team
from invoicing.search.paging import PageRequest, find_page
from invoicing.search.records import find_customers, find_documents
from invoicing.search.texts import texts_of_people, texts_of_team
from invoicing.services import approvals, draft_input, drafts


def search_customers(context: CallContext, page: inputs.PageInput) -> Page[shapes.Customer]:
    found, after = find_customers(context.user, _read_page(page))
    return Page([outputs.describe_customer(customer) for customer in found], after)


def list_documents(context: CallContext, page: inputs.PageInput) -> Page[shapes.DocumentSummary]:
    # For users who see only customers that they manage, the word table finds the documents even
    # without a search: by ID alone, all documents of others would have to be passed over.
    sees_all = context.user.has_perm(Permission.VIEW_ALL_CUSTOMERS)
    if sees_all and not (page.search or "").strip():
        rows, after = reading.read_page(after=page.after, limit=page.limit)
        return Page(outputs.describe_summaries(rows), after)
    with transactions.snapshot():
        found, after = find_documents(context.user, _read_page(page))
    return Page(outputs.describe_summaries(map(vars, found)), after)


def _read_page(page: inputs.PageInput) -> PageRequest:
    return PageRequest(search=page.search or "", after=page.after, limit=page.limit)


def get_document(context: CallContext, no_input: NoInput) -> Record[shapes.Document]:
    document_id = context.record_id()
    found = reading.read_document(context.user, document_id)
    return Record(outputs.describe_document(*found), document_id)


def preview_document(context: CallContext, draft: inputs.DraftInput) -> Record[shapes.Preview]:
    document = drafts.preview_draft(context.user, _read_draft(draft))
    return Record(outputs.describe_preview(document))


def create_draft(context: CallContext, draft: inputs.DraftInput) -> Record[shapes.Document]:
    document = drafts.create_draft(context.user, _read_draft(draft), maker=_maker(context))
    return Record(outputs.describe_written(document), document.id)


def _maker(context: CallContext) -> draft_input.Maker:
    return draft_input.Maker(context.connection.id, context.connection.name)


def update_draft(context: CallContext, draft: inputs.DraftUpdateInput) -> Record[shapes.Document]:
    document = drafts.update_draft(
        context.user, context.record_id(), _read_draft(draft), lock_version=draft.lock_version
    )
    return Record(outputs.describe_written(document), document.id)


def _read_draft(draft: inputs.DraftInput) -> draft_input.DraftInput:
    """Return the service's input, whose fields have the same names; null means their default."""
    given = draft.model_dump(exclude={"lock_version"}, exclude_none=True)
    lines = tuple(draft_input.LineInput(**line) for line in given.pop("line_items"))
    return draft_input.DraftInput(**given, line_items=lines)


def prepare_issue(
    context: CallContext, request: inputs.IssuePrepareInput
) -> Record[shapes.PreparedApproval]:
    snapshot, nonce = approvals.prepare_approval(
        context.user,
        context.record_id(),
        lock_version=request.lock_version,
        maker=_maker(context),
        clock=timezone.now,
    )
    answer: shapes.PreparedApproval = {**outputs.describe_approval(snapshot), "nonce": nonce}
    return Record(answer, snapshot.approval.document_id)


def get_approval(context: CallContext, no_input: NoInput) -> Record[shapes.Approval]:
    own = approvals.approvals_visible_to(context.user).filter(connection_id=context.connection.id)
    snapshot = approvals.read_approval(own, context.record_id(), now=timezone.now())
    return Record(outputs.describe_approval(snapshot), snapshot.approval.document_id)


def issue_document(context: CallContext, request: inputs.IssueInput) -> Record[shapes.Execution]:
    execution = approvals.Execution(
        connection_id=context.connection.id, nonce=request.nonce, key=context.idempotency_key
    )
    executed = approvals.execute_approval(
        context.user,
        context.record_id(),
        execution,
        clock=timezone.now,
        serialise_result=lambda snapshot, document: dump_json(
            outputs.describe_execution(snapshot, document)
        ).decode(),
    )
    return Record(orjson.Fragment(executed.result), executed.document_id)


def list_people(context: CallContext, page: inputs.PeoplePageInput) -> Page[shapes.Person]:
    people = people_listed().select_related("manager")
    if page.team_id is not None:
        people = people.filter(id__in=_member_ids(page.team_id))
    found, after = find_page(people, _read_page(page), texts=texts_of_people())
    prefetch_related_objects(found, *_what_is_told())
    return Page([outputs.describe_person(person) for person in found], after)


def _member_ids(team_id: UUID) -> QuerySet[Any]:
    memberships = Team.members.through.objects.filter(team_id__in=teams_listed().values("id"))
    return memberships.filter(team_id=team_id).values("user_id")


def _what_is_told() -> Sequence[Any]:
    return "skills", Prefetch("teams", teams_listed().order_by("id"))


def get_person(context: CallContext, no_input: NoInput) -> Record[shapes.PersonWithHours]:
    people = people_listed().select_related("manager")
    told = people.prefetch_related(*_what_is_told(), "working_hours")
    person = told.filter(id=context.record_id()).first()
    if person is None:
        raise RecordNotFoundError
    return Record(outputs.describe_person_with_hours(person), person.id)


def list_teams(context: CallContext, page: inputs.PageInput) -> Page[shapes.Team]:
    found, after = find_page(teams_listed(), _read_page(page), texts=texts_of_team)
    listed = people_listed().order_by("id")
    prefetch_related_objects(found, Prefetch("leads", listed), Prefetch("members", listed))
    return Page([outputs.describe_team(team) for team in found], after)
