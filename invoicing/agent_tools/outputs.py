"""The answer of each tool: records as the dictionaries that `shapes` declares.

Amounts are strings of minor units. Only what is named here, or derived in `shown`, reaches an
agent.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from django.conf import settings

from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.tools import describe_progress
from invoicing.agent_tools import shapes
from invoicing.models import Customer, Document, Line, TaxRow, Team, User
from invoicing.models.documents import TOTALS
from invoicing.services.draft_content import DraftContent
from invoicing.services.working_hours import WEEKDAYS
from invoicing.shown import LINE, TAX_ROW, TEXTS

# The values of a record, or of an approval's facts, by their names on the wire.
Values = Mapping[str, Any]

# What agents see of a document's own columns: in a list, and when they read it.
SUMMARY_COLUMNS = tuple(name for name in shapes.DocumentSummary.__annotations__ if name != "href")
DOCUMENT_COLUMNS = (*SUMMARY_COLUMNS, *TEXTS.names, "issued_at")


def describe_customer(customer: Customer) -> shapes.Customer:
    return {"id": customer.id, "name": customer.name}


def describe_summary(document: Values) -> shapes.DocumentSummary:
    """Return the summary of a document of which the SUMMARY_COLUMNS are given."""
    return {
        "id": document["id"],
        "type": document["type"],
        "status": document["status"],
        "number": document["number"],
        "draft_code": document["draft_code"],
        **_describe_header(document),
        "lock_version": document["lock_version"],
        "connection_id": document["connection_id"],
        "href": f"{settings.BASE_URL}/documents/{document['id']}",
    }


def describe_document(
    document: Values, lines: Iterable[Values], tax_rows: Iterable[Values]
) -> shapes.Document:
    """Return the summary with texts, lines and taxes; lines and tax rows in order of position."""
    return {
        **describe_summary(document),
        **_describe_content(document, lines, tax_rows),
        "issued_at": document["issued_at"],
    }


def values_of(document: Document) -> dict[str, Any]:
    """Return the DOCUMENT_COLUMNS of a document."""
    return {name: getattr(document, name) for name in DOCUMENT_COLUMNS}


def describe_written(
    document: Document, lines: Iterable[Line], tax_rows: Iterable[TaxRow]
) -> shapes.Document:
    """Return a document as it was just written."""
    parts = map(LINE.values, lines), map(TAX_ROW.values, tax_rows)
    return describe_document(values_of(document), *parts)


def describe_preview(draft: DraftContent) -> shapes.Preview:
    """Return an unsaved draft, without the fields that only a saved one has."""
    document = values_of(draft.document)
    lines, tax_rows = map(LINE.values, draft.lines), map(TAX_ROW.values, draft.tax_rows)
    return {**_describe_header(document), **_describe_content(document, lines, tax_rows)}


def _describe_header(document: Values) -> shapes.Header:
    return {
        "customer_id": document["customer_id"],
        "issue_date": document["issue_date"],
        "due_date": document["due_date"],
        **_describe_totals(document),
    }


def _describe_totals(values: Values) -> shapes.Totals:
    currency = {name: values[name] for name in ("currency_code", "minor_unit")}
    return cast("shapes.Totals", currency | {name: str(values[name]) for name in TOTALS})


def _describe_content(
    document: Values, lines: Iterable[Values], tax_rows: Iterable[Values]
) -> shapes.Content:
    texts: shapes.Texts = TEXTS.for_agents(document)
    return {
        **texts,
        "line_items": [LINE.for_agents(line) for line in lines],
        "tax_breakdown": [TAX_ROW.for_agents(row) for row in tax_rows],
    }


def describe_approval(snapshot: ApprovalSnapshot) -> shapes.Approval:
    """Return an approval: the facts as they were prepared, and its state now."""
    approval, facts = snapshot.approval, snapshot.prepared
    return {
        "approval_id": approval.id,
        "status": snapshot.state,
        "document_id": approval.target,
        "lock_version": approval.target_version,
        "customer": {"id": facts["customer"]["id"], "name": facts["customer"]["name"]},
        "issue_date": facts["issue_date"],
        "due_date": facts["due_date"],
        **_describe_totals(facts),
        "tax_breakdown": [
            {name: str(row[name]) for name in TAX_ROW.names} for row in facts["tax_breakdown"]
        ],
        **describe_progress(snapshot),
    }


def describe_execution(snapshot: ApprovalSnapshot, document: Document) -> shapes.Execution:
    """Return what executing an approval answers: the issued document and its number."""
    return {
        "approval_id": snapshot.approval.id,
        "status": snapshot.state,
        "number": str(document.number),
        "document": describe_written(document, document.lines.all(), document.tax_rows.all()),
    }


def describe_person(person: User) -> shapes.Person:
    """Return a person whose skills, listed teams and manager have been fetched."""
    manager = person.manager
    return {
        "id": person.id,
        "name": person.name,
        "work_email": person.email,
        "job_title": person.job_title or None,
        "skills": [skill.name for skill in person.skills.all()],
        "team_ids": [team.id for team in person.teams.all()],
        "manager_id": manager.id if manager and manager.is_listed else None,
        "time_zone": person.time_zone,
    }


def describe_person_with_hours(person: User) -> shapes.PersonWithHours:
    days: dict[str, list[shapes.Hours]] = {weekday: [] for weekday in WEEKDAYS}
    for each in person.working_hours.all():
        hours: shapes.Hours = {"start": f"{each.start_time:%H:%M}", "end": f"{each.end_time:%H:%M}"}
        days[WEEKDAYS[each.weekday]].append(hours)
    week = cast("shapes.WeeklyHours", days)
    return {**describe_person(person), "weekly_working_hours": week}


def describe_team(team: Team) -> shapes.Team:
    """Return a team whose listed leads and members have been fetched."""
    return {
        "id": team.id,
        "name": team.name,
        "description": team.description or None,
        "lead_ids": [person.id for person in team.leads.all()],
        "member_ids": [person.id for person in team.members.all()],
    }
