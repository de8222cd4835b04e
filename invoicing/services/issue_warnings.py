"""What a person should look at twice before an invoice is issued."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import TextChoices

from invoicing.models import Document, DocumentStatus, DocumentType, NumberSeries, User
from invoicing.services.document_facts import Facts
from invoicing.services.numbering import read_format

LATELY = timedelta(days=30)
YEAR = timedelta(days=366)
# Only so many of a customer's documents, the newest, are compared.
COMPARED = 2000


class Missing(TextChoices):
    """What EN 16931 requires on an invoice, by its path in the facts.

    Its rules BR-08, BR-10, BR-S-02 and BR-CO-04.
    """

    SELLER_ADDRESS = "seller.address", "The address of your company is missing."
    CUSTOMER_ADDRESS = "customer.address", "The address of the customer is missing."
    SELLER_VAT_NUMBER = (
        "seller.vat_number",
        "Tax is charged, but the VAT number of your company is missing.",
    )
    LINE_TAX = (
        "line_items.tax_rate_id",
        "A line has no tax. If it is meant to be free of tax, choose a rate of 0 %.",
    )


@dataclass(frozen=True)
class Warnings:
    """What is unusual about issuing a draft; nothing of it forbids that.

    `same_total` is the last document with this total that the customer got in the last 30 days;
    `last_issue_date` is that of the last number in the series, if it is later than the draft's;
    `is_due_late` tells that there is more than a year until the due date.
    """

    missing: list[Missing]
    same_total: Document | None
    is_future: bool
    is_other_year: bool
    is_due_late: bool
    last_issue_date: date | None


def find_warnings(
    user: User, draft: Document, facts: Facts, *, now: datetime, today: date
) -> Warnings:
    """Return what is unusual about issuing this draft, which has these facts, now.

    `today` is the date in the person's time zone.
    """
    return Warnings(
        missing=list(_find_missing(facts)),
        same_total=_same_total(user, draft, since=now - LATELY),
        is_future=draft.issue_date > today,
        is_other_year=draft.issue_date.year != today.year,
        is_due_late=draft.due_date - draft.issue_date > YEAR,
        last_issue_date=_later_issue_date(draft),
    )


def _find_missing(facts: Facts) -> Iterator[Missing]:
    """Yield what is missing; without a VAT number a seller has no tax to name, not even 0 %."""
    if not facts["seller"]["address"]:
        yield Missing.SELLER_ADDRESS
    if not facts["customer"]["address"]:
        yield Missing.CUSTOMER_ADDRESS
    if facts["tax_total"] and not facts["seller"]["vat_number"]:
        yield Missing.SELLER_VAT_NUMBER
    if facts["seller"]["vat_number"] and not all(
        line["tax_rate_id"] for line in facts["line_items"]
    ):
        yield Missing.LINE_TAX


def _same_total(user: User, draft: Document, *, since: datetime) -> Document | None:
    newest = Document.objects.visible_to(user).filter(customer=draft.customer_id).order_by("-id")
    # A query of its own: for a subquery of so many, PostgreSQL would read the whole table.
    oldest_compared = newest.values_list("pk", flat=True)[COMPARED - 1 : COMPARED].first()
    compared = newest.filter(pk__gte=oldest_compared) if oldest_compared else newest
    issued = compared.filter(
        status=DocumentStatus.ISSUED,
        type=draft.type,
        currency_code=draft.currency_code,
        grand_total=draft.grand_total,
        issued_at__gte=since,
    )
    return issued.order_by("-issued_at").first()


def _later_issue_date(draft: Document) -> date | None:
    """Return the date and no more: the person may not be allowed to see that document."""
    year = read_format(DocumentType(draft.type)).series_year(draft.issue_date.year)
    series = NumberSeries.objects.filter(type=draft.type, year=year)
    # A subquery, since with a join the whole series would be read and sorted.
    numbered = Document.objects.filter(series=series.values("pk")[:1]).order_by("-series_value")
    last_date = numbered.values_list("issue_date", flat=True).first()
    return last_date if last_date and last_date > draft.issue_date else None
