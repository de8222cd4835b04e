"""The warnings before something is issued, as sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from invoicing.access import Permission
from invoicing.models import Document, User
from invoicing.services.document_facts import Facts
from invoicing.services.issue_warnings import Missing, find_warnings
from invoicing.web.formats import format_day, format_instant, local_date

MISSING = {
    Missing.SELLER_ADDRESS: "The address of your company is missing.",
    Missing.CUSTOMER_ADDRESS: "The address of the customer is missing.",
    Missing.SELLER_VAT_NUMBER: "Tax is charged, but the VAT number of your company is missing.",
}


@dataclass(frozen=True)
class WarningText:
    """A sentence, and the number of a document, linked if the person may see it."""

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
    if warnings.is_other_year:
        yield WarningText(f"The issue date is not in the current year: {draft.issue_date.year}.")
    if warnings.last_issue_date:
        last = format_day(warnings.last_issue_date)
        yield WarningText(f"The last document of this series has a later issue date: {last}.")


def _same_total_text(issued: Document, user: User) -> WarningText:
    when = format_instant(issued.issued_at, user)
    kind = "A credit note" if issued.is_credit_note else "An invoice"
    sentence = f"{kind} with the same total was issued to this customer on {when}:"
    may_open = user.has_perm(Permission.VIEW_DOCUMENT)
    href = reverse("document", args=[issued.id]) if may_open else ""
    return WarningText(sentence, str(issued.number), href)
