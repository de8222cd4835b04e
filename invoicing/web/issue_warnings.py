"""The warnings before something is issued, as sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.urls import reverse

from invoicing.approval_states import ApprovalState
from invoicing.decisions import find_given_up
from invoicing.models import Document, User
from invoicing.services.approvals import ApprovalSnapshot
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import Missing, find_warnings
from invoicing.web.formats import format_day, format_instant, local_date

MISSING = {
    Missing.SELLER_ADDRESS: "The address of your company is missing.",
    Missing.CUSTOMER_ADDRESS: "The address of the customer is missing.",
    Missing.SELLER_VAT_NUMBER: "Tax is charged, but the VAT number of your company is missing.",
    Missing.LINE_TAX: "A line has no tax. If it is meant to be free of tax, choose a rate of 0 %.",
}


@dataclass(frozen=True)
class WarningText:
    """A sentence, and what a document that is meant is called, with its link."""

    sentence: str
    link: str = ""
    href: str = ""


def describe_warnings(
    user: User, draft: Document, facts: Facts, *, now: datetime
) -> Iterator[WarningText]:
    """Yield the warnings about issuing a draft with these facts now; most drafts have none."""
    warnings = find_warnings(user, draft, facts, now=now, today=local_date(now, user))
    yield from (WarningText(MISSING[each]) for each in warnings.missing)
    if warnings.same_total:
        yield _same_total_text(warnings.same_total, user)
    given_up = find_given_up(warnings.alike, user)
    alike = (each for each in warnings.alike if each.approval.pk not in given_up)
    yield from map(_alike_text, islice(alike, 1))
    if warnings.is_future:
        yield WarningText(f"The issue date is in the future: {format_day(draft.issue_date)}.")
    if warnings.is_other_year:
        year = f"{draft.issue_date.year:04d}"
        yield WarningText(f"The issue date is not in the current year: {year}.")
    if warnings.last_issue_date:
        last = format_day(warnings.last_issue_date)
        yield WarningText(f"The last document of this series has a later issue date: {last}.")
    if warnings.is_due_late:
        due = format_day(draft.due_date)
        yield WarningText(f"The due date is more than a year after the issue date: {due}.")


def _same_total_text(issued: Document, user: User) -> WarningText:
    when = format_instant(issued.issued_at, user)
    kind = "A credit note" if issued.is_credit_note else "An invoice"
    sentence = f"{kind} with the same total was issued to this customer on {when}:"
    return WarningText(sentence, str(issued.number), reverse("document", args=[issued.id]))


def _alike_text(snapshot: ApprovalSnapshot) -> WarningText:
    approval, is_approved = snapshot.approval, snapshot.state == ApprovalState.APPROVED
    done = "You approved the issue of" if is_approved else "You are also asked to issue"
    sentence = f"{done} another draft with the same total for this customer:"
    href = reverse("approval", args=[approval.id])
    return WarningText(sentence, approval.document.draft_code, href)
