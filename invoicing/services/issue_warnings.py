"""What a person should look at twice before an invoice is issued."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from invoicing.access import documents_visible_to
from invoicing.models import Document, DocumentStatus, NumberSeries, User
from invoicing.services.document_facts import Facts

LATELY = timedelta(days=30)
# Of a customer with very many documents only the newest are compared.
COMPARED = 2000


class Missing(StrEnum):
    """What EN 16931 wants on an invoice (BR-08, BR-10, BR-S-02) and a company may lack."""

    SELLER_ADDRESS = "seller.address"
    CUSTOMER_ADDRESS = "customer.address"
    SELLER_VAT_NUMBER = "seller.vat_number"


@dataclass(frozen=True)
class Warnings:
    """None of them forbids anything.

    `same_total` is the last invoice of the same total that this customer got lately;
    `last_issue_date` the issue date of the series' last number, where it is a later one.
    """

    missing: list[Missing]
    same_total: Document | None
    is_other_year: bool
    last_issue_date: date | None


def find_warnings(
    user: User, draft: Document, facts: Facts, *, now: datetime, today: date
) -> Warnings:
    """Return what is unusual about issuing this draft, which has these facts, now.

    `today` is the person's own day.
    """
    return Warnings(
        missing=list(_find_missing(facts)),
        same_total=_same_total(user, draft, since=now - LATELY),
        is_other_year=draft.issue_date.year != today.year,
        last_issue_date=_later_issue_date(draft),
    )


def _find_missing(facts: Facts) -> Iterator[Missing]:
    """Who charges no tax may have no VAT number."""
    if not facts["seller"]["address"]:
        yield Missing.SELLER_ADDRESS
    if not facts["customer"]["address"]:
        yield Missing.CUSTOMER_ADDRESS
    if facts["tax_total"] and not facts["seller"]["vat_number"]:
        yield Missing.SELLER_VAT_NUMBER


def _same_total(user: User, draft: Document, *, since: datetime) -> Document | None:
    newest = documents_visible_to(user).filter(customer=draft.customer_id).order_by("-id")
    issued = Document.objects.filter(
        pk__in=newest.values("pk")[:COMPARED],
        status=DocumentStatus.ISSUED,
        type=draft.type,
        currency_code=draft.currency_code,
        grand_total=draft.grand_total,
        issued_at__gte=since,
    )
    return issued.order_by("-issued_at").first()


def _later_issue_date(draft: Document) -> date | None:
    """Return the date only: the last number may be of a customer whom the person may not see."""
    series = NumberSeries.objects.filter(type=draft.type, year=draft.issue_date.year)
    # Joined instead, all of the series would be read and sorted.
    numbered = Document.objects.filter(series=series.values("pk")[:1]).order_by("-series_value")
    last_date = numbered.values_list("issue_date", flat=True).first()
    return last_date if last_date and last_date > draft.issue_date else None
