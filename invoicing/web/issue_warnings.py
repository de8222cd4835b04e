"""The warnings before something is issued, as pages show them."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.template.loader import render_to_string
from django.urls import reverse

from invoicing.access import WRITE_PERMISSIONS
from invoicing.document_approvals import find_alike
from invoicing.models import Document, User
from invoicing.paper.formats import format_day, format_instant, local_date
from invoicing.rights import may_administer
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import Check, find_warnings

# By kind of record: what leads to it, and the permission to change it.
LINKS = {
    "company": "Change the company",
    "customer": "Change the customer",
    "taxes": "Tax rates",
    "draft": "Edit the draft",
}
CHANGES = {
    "company": "invoices.change_company",
    "customer": "invoices.change_customer",
    "taxes": "invoices.change_taxrate",
}


def render_warnings(user: User, draft: Document, facts: Facts, *, now: datetime) -> str:
    """Return the warnings about issuing a draft with these facts now; most drafts have none."""
    warnings = find_warnings(user, draft, facts, now=now, today=local_date(now, user))
    alike = find_alike(user, draft, now=now)
    if not alike and not any(vars(warnings).values()):
        return ""
    last, same_total = warnings.last_issue_date, warnings.same_total
    values = {
        "warnings": warnings,
        "groups": _group(user, draft, warnings.checks),
        "alike": alike,
        "issued_at": format_instant(same_total.issued_at, user) if same_total else "",
        "issue_date": format_day(draft.issue_date),
        "issue_year": f"{draft.issue_date.year:04d}",
        "last_issue_date": format_day(last) if last else "",
        "due_date": format_day(draft.due_date),
    }
    return render_to_string("invoicing/warnings.html", values)


@dataclass(frozen=True)
class Group:
    """Checks of one record, with the page on which the person may change it, if they may."""

    checks: list[Check]
    link: str
    url: str


def _group(user: User, draft: Document, checks: list[Check]) -> list[Group]:
    return [
        Group(list(own), LINKS[record], _url(user, draft, record))
        for record, own in groupby(checks, key=lambda check: check.record)
    ]


def _url(user: User, draft: Document, record: str) -> str:
    """Return the address of the page on which this person may change the record, or ""."""
    if record == "draft":
        may_edit = draft.is_draft_invoice and user.has_perms(WRITE_PERMISSIONS)
        return reverse("edit-draft", args=[draft.pk]) if may_edit else ""
    if not may_administer(user, CHANGES[record]):
        return ""
    if record == "taxes":
        return reverse("admin:invoices_taxrate_changelist")
    pk = draft.customer_id if record == "customer" else draft.seller.pk
    return reverse(f"admin:invoices_{record}_change", args=[pk])
