"""Drafts and issued documents, each computed from its index, so that every load is the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any, TypeVar

from django.db import transaction

from invoicing.draft_fields import CorrectionInput, DraftInput, PersonInput
from invoicing.models import Document, DocumentStatus, TaxRate
from invoicing.money import round_half_up
from invoicing.sample_company.customers import HOME, Account
from invoicing.sample_company.staff import Staff
from invoicing.sample_company.tables import COMPANY, Row, read_table
from invoicing.services.corrections import create_correction
from invoicing.services.drafts import create_draft
from invoicing.services.issuing import issue_document
from invoicing.tax_wordings import NAMES, WORDINGS
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
    return {key: _write_tax_rate(**facts) for key, facts in COMPANY["tax_rates"].items()}


def _write_tax_rate(*, wording: str, **facts: Any) -> TaxRate:
    category, reasons = WORDINGS[wording].category, WORDINGS[wording].reasons
    # What is not VAT keeps its own name.
    names = {} if "Sales tax" in facts["name"] else NAMES[category]
    return TaxRate.objects.create(category=category, names=names, reasons=reasons, **facts)


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
    # The first draft corrects an invoice, if there is one of several lines, and is issued as well.
    if index == first_draft and (original := _find_correctable()):
        issue_date = _issue_date(master_data, index)
        asked = _correct(original, issue_date)
        correction = create_correction(original.created_by, original.pk, asked)
        issue_document(correction, clock=partial(_working_time, issue_date))
        return
    account = _pick(master_data.accounts, index * 7)
    draft = _draft(master_data, account, index)
    by_person = _by_person(account, draft, index)
    document = create_draft(master_data.staff[account.writer], draft, by_person).document
    if index < first_draft:
        issue_document(document, clock=partial(_working_time, draft.issue_date))


def _find_correctable() -> Document | None:
    issued = Document.objects.filter(status=DocumentStatus.ISSUED, language="de")
    return issued.filter(lines__position=1).order_by("-series_value").first()


def _correct(original: Document, issue_date: date) -> CorrectionInput:
    """Return what takes back the whole of its second line."""
    line = original.lines.order_by("position")[1]
    return CorrectionInput.model_validate(
        {
            "issue_date": issue_date.isoformat(),
            "correction_reason": COMPANY["correction_reason"],
            "quantities": {line.pk: line.quantity_ten_thousandths},
        }
    )


def _by_person(account: Account, draft: DraftInput, index: int) -> PersonInput:
    """Return what only people write: a day or a period of supply, and the exchange rate.

    A third of the documents say nothing of it, but within the union the law wants it.
    """
    told: dict[str, str] = {}
    if index % 3 or account.is_within_union:
        told["supply_date"] = str(draft.issue_date - timedelta(days=index % 10))
    if index % 3 == 1:
        told["supply_end_date"] = str(draft.issue_date)
    if account.is_within_union:
        told["delivery_country"] = account.customer.country
    if rate := COMPANY["exchange_rates"].get(account.currency_code):
        told |= {"exchange_rate": rate, "exchange_rate_base": "EUR"}
        told["exchange_rate_date"] = str(draft.issue_date)
    return PersonInput.model_validate(told)


def _issue_date(master_data: MasterData, index: int) -> date:
    days = index * DAYS_OF_BUSINESS // master_data.document_count
    return FIRST_ISSUE_DATE + timedelta(days=days)


def _draft(master_data: MasterData, account: Account, index: int) -> DraftInput:
    issue_date = _issue_date(master_data, index)
    due_date = issue_date + timedelta(days=_pick(PAYMENT_DAYS, index))
    products = _products(master_data, account, index)
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
                _line(master_data, account, products, index * 5 + position * 3)
                for position in range(1 + index * 7 % 6)
            ],
        }
    )


def _products(master_data: MasterData, account: Account, index: int) -> Sequence[Row]:
    """Return what the document may be about: abroad, goods or services.

    Services there are outside the scope of VAT, and stand on no invoice with anything else.
    """
    if _rate_abroad(account, "goods") != "export":
        return master_data.products
    kind = "goods" if index % 2 else "service"
    return [each for each in master_data.products if each["kind"] == kind and each["tax"] != "none"]


def _line(
    master_data: MasterData, account: Account, products: Sequence[Row], choice: int
) -> dict[str, str]:
    product = _pick(products, choice)
    numerator, denominator = PRICES[account.currency_code]
    unit_price = round_half_up(int(product["euro_cents"]) * numerator, denominator)
    return {
        "description": product["description"],
        "quantity": _pick(QUANTITIES, choice),
        "unit": product["unit"],
        "unit_price": str(unit_price),
        **_discount(unit_price, choice),
        **_tax(master_data, account, product),
    }


def _discount(unit_price: int, choice: int) -> dict[str, str]:
    if choice % 5 == 0:
        return {"discount_type": DiscountType.PERCENT, "discount_value": "1000"}
    # A tenth of the price is never more than the line's amount: the least quantity is 0.5.
    if choice % 7 == 0:
        return {"discount_type": DiscountType.AMOUNT, "discount_value": str(unit_price // 10)}
    return {}


def _tax(master_data: MasterData, account: Account, product: Row) -> dict[str, str]:
    if product["tax"] == "none":
        return {}
    key = _rate_abroad(account, product["kind"]) or product["tax"]
    return {"tax_rate_id": str(master_data.tax_rates[key].id)}


def _rate_abroad(account: Account, kind: str) -> str:
    """Return the rate for businesses in another country, or "" at home."""
    if account.customer.country == HOME:
        return ""
    if account.customer.country == "US":
        return "sales"
    if account.is_within_union:
        return "union" if kind == "goods" else "reverse"
    return "export" if kind == "goods" else "abroad"


def _working_time(day: date) -> datetime:
    return datetime.combine(day, time(9, 30), tzinfo=UTC)


def _pick(items: Sequence[_Item], number: int) -> _Item:
    return items[number % len(items)]
