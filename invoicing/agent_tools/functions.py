"""One function per tool: passes its input to the services, and describes the records it gets."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet, prefetch_related_objects

from agent_access.approvals.tools import execute_request, prepare_request, read_request
from agent_access.calls import CallContext, Page, Record
from agent_access.database.transactions import snapshot
from agent_access.tools import NoInput
from invoicing.access import Permission
from invoicing.agent_tools import failures, inputs, outputs, reading, shapes
from invoicing.agent_tools.issue_approvals import ISSUE_APPROVAL
from invoicing.draft_fields import DraftInput
from invoicing.models import Document, Team, User
from invoicing.search.paging import PageRequest, find_page
from invoicing.search.records import find_customers, find_documents
from invoicing.search.texts import texts_of_people, texts_of_team
from invoicing.services import drafts
from invoicing.services.draft_content import DraftContent


def search_customers(context: CallContext, page: inputs.PageInput) -> Page[shapes.Customer]:
    found, after = find_customers(context.user, _read_page(page))
    return Page([outputs.describe_customer(customer) for customer in found], after)


def list_documents(context: CallContext, page: inputs.PageInput) -> Page[shapes.DocumentSummary]:
    asked, user = _read_page(page), context.user
    if user.has_perm(Permission.VIEW_ALL_CUSTOMERS) and not asked.search.strip():
        rows, after = reading.read_page(after=asked.after, limit=asked.limit)
    else:
        with snapshot():
            found, after = find_documents(user, asked)
        rows = [outputs.values_of(document) for document in found]
    return Page([outputs.describe_summary(row) for row in rows], after)


def _read_page(page: inputs.PageInput) -> PageRequest:
    return PageRequest(search=page.search or "", after=page.after, limit=page.limit)


def get_document(context: CallContext, no_input: NoInput) -> Record[shapes.Document]:
    document_id = context.record_id()
    found = reading.read_document(context.user, document_id)
    return Record(outputs.describe_document(*found), document_id)


def preview_document(context: CallContext, draft: DraftInput) -> Record[shapes.Preview]:
    return Record(outputs.describe_preview(drafts.preview_draft(context.user, draft)))


def create_draft(context: CallContext, draft: DraftInput) -> Record[shapes.Document]:
    made = drafts.create_draft(context.user, draft, connection=_connection(context))
    return _describe_draft(made)


def _describe_draft(draft: DraftContent) -> Record[shapes.Document]:
    document, _, lines, tax_rows = draft
    return Record(outputs.describe_written(document, lines, tax_rows), document.id)


def _connection(context: CallContext) -> drafts.ConnectionRef:
    return drafts.ConnectionRef(context.connection.id, context.connection.name)


def update_draft(context: CallContext, draft: inputs.DraftUpdateInput) -> Record[shapes.Document]:
    pk, lock_version = context.record_id(), draft.lock_version
    return _describe_draft(drafts.update_draft(context.user, pk, draft, lock_version=lock_version))


def find_document(user: User, pk: UUID) -> Document:
    """Return the document for a replay; raises RecordNotFoundError if the user sees it no more."""
    return Document.objects.visible_to(user).find(pk)


def prepare_issue(
    context: CallContext, request: inputs.IssuePrepareInput
) -> Record[shapes.PreparedApproval]:
    snapshot, nonce = prepare_request(ISSUE_APPROVAL, context, request)
    answer: shapes.PreparedApproval = {**outputs.describe_approval(snapshot), "nonce": nonce}
    return Record(answer, snapshot.approval.target)


def get_approval(context: CallContext, no_input: NoInput) -> Record[shapes.Approval]:
    snapshot = read_request(ISSUE_APPROVAL, context)
    return Record(outputs.describe_approval(snapshot), snapshot.approval.target)


def issue_document(context: CallContext, request: inputs.IssueInput) -> Record[shapes.Execution]:
    return execute_request(
        ISSUE_APPROVAL, context, request.nonce, refusals=failures.APPROVAL_REFUSALS
    )


def list_people(context: CallContext, page: inputs.PeoplePageInput) -> Page[shapes.Person]:
    people = User.objects.listed().select_related("manager")
    if page.team_id is not None:
        people = people.filter(id__in=_member_ids(page.team_id))
    found, after = find_page(people, _read_page(page), texts=texts_of_people())
    prefetch_related_objects(found, *_person_relations())
    return Page([outputs.describe_person(person) for person in found], after)


def _member_ids(team_id: UUID) -> QuerySet[Any]:
    memberships = Team.members.through.objects.filter(
        team_id__in=Team.objects.listed().values("id")
    )
    return memberships.filter(team_id=team_id).values("user_id")


def _person_relations() -> Sequence[Any]:
    return "skills", Prefetch("teams", Team.objects.listed().order_by("id"))


def get_person(context: CallContext, no_input: NoInput) -> Record[shapes.PersonWithHours]:
    people = User.objects.listed().select_related("manager")
    found = people.prefetch_related(*_person_relations(), "working_hours")
    person = found.find(context.record_id())
    return Record(outputs.describe_person_with_hours(person), person.id)


def list_teams(context: CallContext, page: inputs.PageInput) -> Page[shapes.Team]:
    found, after = find_page(Team.objects.listed(), _read_page(page), texts=texts_of_team)
    listed = User.objects.listed().order_by("id")
    prefetch_related_objects(found, Prefetch("leads", listed), Prefetch("members", listed))
    return Page([outputs.describe_team(team) for team in found], after)
