"""The answer of each tool: records as the dictionaries that `shapes` declares.

Amounts are strings of minor units. Only what is named here reaches an agent.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from django.conf import settings

from invoicing.access import may_be_delegate
from invoicing.agent_tools import shapes
from invoicing.fixed_point import format_fixed_point
from invoicing.models import Customer, Document, Team, User, WorkingHours
from invoicing.services.approvals import ApprovalSnapshot
from invoicing.services.document_parts import parts_of
from invoicing.services.working_hours import WEEKDAYS

# The columns that a summary and a whole document need.
SUMMARY_COLUMNS = (
    *("id", "type", "status", "number", "draft_code", "lock_version", "connection_id"),
    *("customer_id", "issue_date", "due_date", "currency_code", "minor_unit"),
    *("net_total", "discount_total", "tax_total", "grand_total"),
)
DOCUMENT_COLUMNS = (*SUMMARY_COLUMNS, "language", "notes", "reference", "issued_at")

# A row by its column names: read as such, or vars() of a model's instance.
Columns = Mapping[str, Any]


def describe_customer(customer: Customer) -> shapes.Customer:
    return {"id": customer.id, "name": customer.name}


def describe_summaries(documents: Iterable[Columns]) -> list[shapes.DocumentSummary]:
    base_url = settings.BASE_URL  # once: each access takes as long as half a summary
    return [_describe_summary(document, base_url) for document in documents]


def _describe_summary(document: Columns, base_url: str) -> shapes.DocumentSummary:
    return {
        "id": document["id"],
        "type": document["type"],
        "status": document["status"],
        "number": document["number"],
        "draft_code": document["draft_code"],
        **_describe_header(document),
        "lock_version": document["lock_version"],
        "connection_id": document["connection_id"],
        "href": f"{base_url}/documents/{document['id']}",
    }


def describe_document(
    document: Columns, lines: Iterable[Columns], tax_rows: Iterable[Columns]
) -> shapes.Document:
    """Return the summary with texts, lines and taxes; lines and tax rows in order of position."""
    return {
        **_describe_summary(document, settings.BASE_URL),
        **_describe_content(document, lines, tax_rows),
        "issued_at": document["issued_at"],
    }


def describe_written(document: Document) -> shapes.Document:
    """Return a document that was just written, with its lines and taxes."""
    lines, tax_rows = parts_of(document)
    return describe_document(vars(document), map(vars, lines), map(vars, tax_rows))


def describe_preview(document: Document) -> shapes.Preview:
    """Return an unsaved draft, without the fields that only a saved one has."""
    header = vars(document)
    lines, tax_rows = parts_of(document)
    content = _describe_content(header, map(vars, lines), map(vars, tax_rows))
    return {**_describe_header(header), **content}


def _describe_header(document: Columns) -> shapes.Header:
    return {
        "customer_id": document["customer_id"],
        "issue_date": document["issue_date"],
        "due_date": document["due_date"],
        **_describe_totals(document),
    }


def _describe_totals(document: Columns) -> shapes.Totals:
    return {
        "currency_code": document["currency_code"],
        "minor_unit": document["minor_unit"],
        "net_total": str(document["net_total"]),
        "discount_total": str(document["discount_total"]),
        "tax_total": str(document["tax_total"]),
        "grand_total": str(document["grand_total"]),
    }


def _describe_content(
    document: Columns, lines: Iterable[Columns], tax_rows: Iterable[Columns]
) -> shapes.Content:
    return {
        "language": document["language"],
        "notes": document["notes"] or None,
        "reference": document["reference"] or None,
        "line_items": [_describe_line(line) for line in lines],
        "tax_breakdown": [
            _describe_tax(row, format_fixed_point(row["percentage_ten_thousandths"]))
            for row in tax_rows
        ],
    }


def _describe_line(line: Columns) -> shapes.Line:
    discount_value = line["discount_value"]
    return {
        "description": line["description"],
        "quantity": format_fixed_point(line["quantity_ten_thousandths"]),
        "unit": line["unit"] or None,
        "unit_price": str(line["unit_price"]),
        "discount_type": line["discount_type"],
        "discount_value": None if discount_value is None else str(discount_value),
        "tax_rate_id": line["tax_rate_id"],
        "discount_amount": str(line["discount_amount"]),
        "net_amount": str(line["net_amount"]),
    }


def _describe_tax(row: Columns, percentage: str) -> shapes.TaxRow:
    return {
        "tax_rate_id": row["tax_rate_id"],
        "name": row["name"],
        "percentage": percentage,
        "taxable_amount": str(row["taxable_amount"]),
        "tax_amount": str(row["tax_amount"]),
    }


def describe_approval(snapshot: ApprovalSnapshot) -> shapes.Approval:
    """Return an approval: the facts as they were prepared, and its state now."""
    approval, facts = snapshot.approval, snapshot.prepared
    return {
        "approval_id": approval.id,
        "status": snapshot.state,
        "document_id": approval.document_id,
        "lock_version": approval.lock_version,
        "customer": {"id": facts["customer"]["id"], "name": facts["customer"]["name"]},
        "issue_date": facts["issue_date"],
        "due_date": facts["due_date"],
        **_describe_totals(facts),
        "tax_breakdown": [_describe_tax(row, row["percentage"]) for row in facts["tax_breakdown"]],
        "prepared_at": approval.prepared_at,
        "expires_at": approval.expires_at,
        "decided_at": approval.decided_at,
        "executed_at": approval.executed_at,
        "rejection_reason": approval.rejection_reason or None,
        "stale_fields": snapshot.stale_fields,
        "review_url": f"{settings.BASE_URL}/approvals/{approval.id}",
    }


def describe_execution(snapshot: ApprovalSnapshot, document: Document) -> shapes.Execution:
    """Return what executing an approval answers: the issued document and its number."""
    return {
        "approval_id": snapshot.approval.id,
        "status": snapshot.state,
        "number": str(document.number),
        "document": describe_written(document),
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
        "manager_id": manager.id if manager and may_be_delegate(manager) else None,
        "time_zone": person.time_zone,
    }


def describe_person_with_hours(person: User) -> shapes.PersonWithHours:
    days: dict[str, list[shapes.Hours]] = {weekday: [] for weekday in WEEKDAYS}
    for hours in person.working_hours.all():
        days[WEEKDAYS[hours.weekday]].append(_describe_hours(hours))
    week = cast("shapes.WeeklyHours", days)
    return {**describe_person(person), "weekly_working_hours": week}


def _describe_hours(hours: WorkingHours) -> shapes.Hours:
    return {"start": f"{hours.start_time:%H:%M}", "end": f"{hours.end_time:%H:%M}"}


def describe_team(team: Team) -> shapes.Team:
    """Return a team whose listed leads and members have been fetched."""
    return {
        "id": team.id,
        "name": team.name,
        "description": team.description or None,
        "lead_ids": [person.id for person in team.leads.all()],
        "member_ids": [person.id for person in team.members.all()],
    }
