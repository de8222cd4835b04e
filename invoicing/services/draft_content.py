"""Turns a draft as it was asked for into rows, or names everything that the database refuses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from invoicing.draft_fields import DraftInput, LineItemInput, PersonInput, columns_of
from invoicing.errors import AmountTooLargeError, DraftInvalidError, FieldProblem
from invoicing.models import Company, Customer, Document, Line, TaxRate, TaxRow
from invoicing.models.documents import TOTALS
from invoicing.money import SUPPORTED_CURRENCIES, minor_unit
from invoicing.totals import LineAmounts, TaxFacts, Totals, calculate_totals

# What an agent's update ends: the exchange rate with the currency, the reference with the buyer.
OF_CURRENCY = tuple(name for name in PersonInput.model_fields if name.startswith("exchange_rate"))
OF_CUSTOMER = ("buyer_reference",)

TOO_LARGE = FieldProblem("line_items", "lead to an amount of more than 18 digits")

# Tax rates by ID.
Rates = Mapping[UUID | None, TaxFacts]


class DraftContent(NamedTuple):
    """A document with its lines and tax rows, none of them saved yet; `header` has its columns."""

    document: Document
    header: Mapping[str, Any]
    lines: Sequence[Line]
    tax_rows: Sequence[TaxRow]


def fill_draft(
    document: Document,
    asked: DraftInput,
    customer: Customer | None,
    by_person: PersonInput | None = None,
) -> DraftContent:
    """Set what the draft decides on the document, and return it with new lines and tax rows.

    The customer is the one that was asked for, if the user sees it. Without `by_person`, what only
    people write stays as it is. Raises DraftInvalidError with all problems at once.
    """
    rates = _read_active_rates(asked.line_items)
    problems = [*_find_problems(asked, customer, rates), *_find_rate_problems(asked, by_person)]
    totals = None
    try:
        totals = calculate_totals([_amounts_of(item, rates) for item in asked.line_items])
    except AmountTooLargeError:
        problems.append(TOO_LARGE)
    if totals is None or problems:
        raise DraftInvalidError(tuple(problems))
    header = {
        **columns_of(asked, without=("customer_id", "line_items", "lock_version")),
        "customer": customer,
        "language": asked.language or settings.LANGUAGE_CODE,
        "minor_unit": minor_unit(asked.currency_code),
        **_columns_of_person(document, asked, by_person),
        **{name: getattr(totals, name) for name in TOTALS},
    }
    for name, value in header.items():
        setattr(document, name, value)
    lines, tax_rows = _make_lines(document, asked, totals), _make_tax_rows(document, totals)
    return DraftContent(document, header, lines, tax_rows)


def _columns_of_person(
    document: Document, asked: DraftInput, by_person: PersonInput | None
) -> Mapping[str, Any]:
    """Return what a person writes; without it, what is not true of another currency or customer."""
    if by_person is not None:
        return columns_of(by_person)
    is_other_currency = document.currency_code not in {"", asked.currency_code}
    is_other_customer = document.customer_id not in {None, asked.customer_id}
    ended = (*(OF_CURRENCY * is_other_currency), *(OF_CUSTOMER * is_other_customer))
    staying = tuple(name for name in PersonInput.model_fields if name not in ended)
    return columns_of(PersonInput(), without=staying)


def calculate_lines(lines: Mapping[int, LineItemInput]) -> Totals:
    """Return what some lines of a draft come to, by their positions, as fill_draft() does.

    Raises DraftInvalidError.
    """
    rates = _read_active_rates(lines.values())
    if problems := tuple(_find_tax_problems(lines.items(), rates)):
        raise DraftInvalidError(problems)
    try:
        return calculate_totals([_amounts_of(item, rates) for item in lines.values()])
    except AmountTooLargeError:
        raise DraftInvalidError((TOO_LARGE,)) from None


def _read_active_rates(lines: Iterable[LineItemInput]) -> Rates:
    """Return the active tax rates that the lines ask for, by ID."""
    wanted = {item.tax_rate_id for item in lines if item.tax_rate_id}
    found = TaxRate.objects.filter(is_active=True, pk__in=wanted) if wanted else ()
    return {rate.id: rate.facts for rate in found}


def _amounts_of(item: LineItemInput, rates: Rates) -> LineAmounts:
    discount, rate = (item.discount_type, item.discount_value), rates.get(item.tax_rate_id)
    return LineAmounts(item.quantity, item.unit_price, *discount, rate)


def _find_problems(
    asked: DraftInput, customer: Customer | None, rates: Rates
) -> Iterator[FieldProblem]:
    if customer is None or not customer.is_active:
        yield FieldProblem("customer_id", "is not an active customer within reach")
    if asked.currency_code not in SUPPORTED_CURRENCIES:
        yield FieldProblem("currency_code", "is not a supported currency")
    if asked.language not in {None, *dict(settings.DOCUMENT_LANGUAGES)}:
        yield FieldProblem("language", "is not a supported language")
    yield from _find_tax_problems(enumerate(asked.line_items), rates)


def _find_tax_problems(
    lines: Iterable[tuple[int, LineItemInput]], rates: Rates
) -> Iterator[FieldProblem]:
    for index, item in lines:
        if item.tax_rate_id and item.tax_rate_id not in rates:
            yield FieldProblem(f"line_items.{index}.tax_rate_id", "is not an active tax rate")


def _find_rate_problems(asked: DraftInput, by_person: PersonInput | None) -> Iterator[FieldProblem]:
    """Yield what is wrong with the exchange rate: it converts VAT to the company's tax currency."""
    if by_person is None or by_person.exchange_rate is None:
        return
    company = Company.objects.first()
    tax_currency = company.tax_currency if company else ""
    if asked.currency_code == tax_currency:
        yield FieldProblem("exchange_rate", f"is only for another currency than {tax_currency}")
    elif by_person.exchange_rate_base not in {asked.currency_code, tax_currency}:
        yield FieldProblem("exchange_rate_base", "is neither the currency of the draft nor of VAT")


def _make_lines(document: Document, asked: DraftInput, totals: Totals) -> list[Line]:
    return [
        Line(
            document_id=document.id,
            position=position,
            discount_amount=computed.discount_amount,
            net_amount=computed.net_amount,
            **columns_of(item),
        )
        for position, (item, computed) in enumerate(
            zip(asked.line_items, totals.lines, strict=True)
        )
    ]


def _make_tax_rows(document: Document, totals: Totals) -> list[TaxRow]:
    """Return tax rows in the order in which lines first use their rates."""
    return [
        TaxRow(
            document_id=document.id,
            position=position,
            tax_rate_id=row.rate.id,
            name=row.rate.name,
            percentage_ten_thousandths=row.rate.percentage,
            taxable_amount=row.taxable_amount,
            tax_amount=row.tax_amount,
        )
        for position, row in enumerate(totals.tax_breakdown)
    ]
