"""Drafts and issued documents, each computed from its index, so that every load is the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import TypeVar

from django.db import transaction

from invoicing.draft_fields import DraftInput
from invoicing.models import DocumentType, TaxRate
from invoicing.money import round_half_up
from invoicing.sample_company.customers import Account
from invoicing.sample_company.staff import Staff
from invoicing.sample_company.tables import COMPANY, Row, read_table
from invoicing.services.drafts import create_draft
from invoicing.services.issuing import issue_document
from invoicing.totals import DiscountType

FIRST_ISSUE_DATE = date(2026, 1, 5)
DAYS_OF_BUSINESS = 300
PAYMENT_DAYS = (14, 30, 45)
# Seven of ten documents, the earlier ones, are issued.
ISSUED_TENTHS = 7

# Numerator and denominator: minor units of the currency for one euro cent.
PRICES = {"EUR": (1, 1), "USD": (11, 10), "JPY": (8, 5), "BHD": (41, 10)}
QUANTITIES = ("1", "2", "1.5", "0.5", "12", "0.75", "3.3333", "25")
_Item = TypeVar("_Item")


def write_tax_rates() -> dict[str, TaxRate]:
    """Save the rates; return them by a short name."""
    rates = COMPANY["tax_rates"]
    return {key: TaxRate.objects.create(**facts) for key, facts in rates.items()}


@dataclass(frozen=True, kw_only=True)
class MasterData:
    """What documents are made of: people, accounts, tax rates, products, and how many there are."""

    staff: Staff
    accounts: Sequence[Account]
    tax_rates: Mapping[str, TaxRate]
    document_count: int
    products: Sequence[Row] = field(default_factory=partial(read_table, "products"))


@transaction.atomic
def write_document(master_data: MasterData, index: int) -> None:
    """Write the document with this index; low indexes are issued, the others are drafts."""
    first_draft = master_data.document_count * ISSUED_TENTHS // 10
    account = _pick(master_data.accounts, index * 7)
    # The first draft is the only credit note.
    kind = DocumentType.CREDIT_NOTE if index == first_draft else DocumentType.INVOICE
    draft = _draft(master_data, account, index)
    document = create_draft(master_data.staff[account.writer], draft, document_type=kind).document
    if index < first_draft:
        issue_document(document, clock=partial(_working_time, draft.issue_date))


def _draft(master_data: MasterData, account: Account, index: int) -> DraftInput:
    days = index * DAYS_OF_BUSINESS // master_data.document_count
    issue_date = FIRST_ISSUE_DATE + timedelta(days=days)
    due_date = issue_date + timedelta(days=_pick(PAYMENT_DAYS, index))
    return DraftInput.model_validate(
        {
            "customer_id": str(account.customer.id),
            "currency_code": account.currency_code,
            "issue_date": issue_date.isoformat(),
            "due_date": due_date.isoformat(),
            "language": account.language,
            "notes": _pick(COMPANY["notes"], index),
            "reference": f"PO-{26_000 + index}" if index % 3 else "",
            "line_items": [
                _line(master_data, account.currency_code, index * 5 + position * 3)
                for position in range(1 + index * 7 % 6)
            ],
        }
    )


def _line(master_data: MasterData, currency_code: str, choice: int) -> dict[str, str]:
    product = _pick(master_data.products, choice)
    numerator, denominator = PRICES[currency_code]
    unit_price = round_half_up(int(product["euro_cents"]) * numerator, denominator)
    return {
        "description": product["description"],
        "quantity": _pick(QUANTITIES, choice),
        "unit": product["unit"],
        "unit_price": str(unit_price),
        **_discount(unit_price, choice),
        **_tax(master_data, currency_code, product["tax"]),
    }


def _discount(unit_price: int, choice: int) -> dict[str, str]:
    if choice % 5 == 0:
        return {"discount_type": DiscountType.PERCENT, "discount_value": "1000"}
    # A tenth of the price is never more than the line's amount: the least quantity is 0.5.
    if choice % 7 == 0:
        return {"discount_type": DiscountType.AMOUNT, "discount_value": str(unit_price // 10)}
    return {}


def _tax(master_data: MasterData, currency_code: str, tax: str) -> dict[str, str]:
    if tax == "none":
        return {}
    abroad = {"USD": "sales", "JPY": "zero", "BHD": "zero"}
    return {"tax_rate_id": str(master_data.tax_rates[abroad.get(currency_code, tax)].id)}


def _working_time(day: date) -> datetime:
    return datetime.combine(day, time(9, 30), tzinfo=UTC)


def _pick(items: Sequence[_Item], number: int) -> _Item:
    return items[number % len(items)]
