"""Turns a draft as asked for into one that can be written, or names everything wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings

from invoicing import draft_rules
from invoicing.access import customer_condition
from invoicing.errors import (
    AmountTooLargeError,
    ControlCharacterError,
    DraftInvalidError,
    FieldProblem,
    UnknownCurrencyError,
)
from invoicing.locks import hold_customers
from invoicing.models import Customer, TaxRate, User
from invoicing.money import MAX_AMOUNT, minor_unit
from invoicing.rows import CUSTOMERS, RATES
from invoicing.services.draft_input import DraftInput, LineInput
from invoicing.text import normalise_text
from invoicing.totals import (
    DiscountType,
    LineAmounts,
    TaxFacts,
    Totals,
    calculate_totals,
    is_discount_too_large,
)

NO_TOTALS = calculate_totals([])


@dataclass(frozen=True, kw_only=True)
class ResolvedDraft:
    """A valid draft: references found, texts normalised, totals computed; `language` is decided."""

    draft: DraftInput
    customer: Customer
    minor_unit: int
    language: str
    totals: Totals


def resolve_draft(user: User, draft: DraftInput, *, for_writing: bool = False) -> ResolvedDraft:
    """Look up customer and tax rates, check everything, and compute the totals.

    For writing, the customer is held until the transaction ends. The number of queries does not
    depend on that of lines. Raises DraftInvalidError with all problems at once.
    """
    pks = [draft.customer_id]
    if for_writing:
        found = hold_customers(pks, visible_to=user)
    else:
        found = CUSTOMERS.find(CUSTOMERS.among("id", pks), customer_condition(user, "record.id"))
    active = next((customer for customer in found if customer.is_active), None)
    return resolve_with(draft, active, _active_rates(draft.line_items))


def resolve_with(
    draft: DraftInput, customer: Customer | None, rates: Mapping[UUID, TaxRate]
) -> ResolvedDraft:
    """Check a draft and compute its totals with the active customer, if any, and active rates.

    Raises DraftInvalidError with all problems at once.
    """
    resolution = _Resolution()
    resolution.check_customer(customer)
    resolved_minor_unit = resolution.find_minor_unit(draft.currency_code)
    language = resolution.find_language(draft.language)
    resolution.check_dates(draft)
    normal_draft = resolution.normalise(draft)
    totals = resolution.calculate(draft.line_items, rates)
    if customer is None or resolution.problems:
        raise DraftInvalidError(tuple(resolution.problems))
    return ResolvedDraft(
        draft=normal_draft,
        customer=customer,
        minor_unit=resolved_minor_unit,
        language=language,
        totals=totals,
    )


class _Resolution:
    """Collects the problems of a draft, so that its caller can mend them all at once."""

    def __init__(self) -> None:
        self.problems: list[FieldProblem] = []

    def check_customer(self, customer: Customer | None) -> None:
        if customer is None:
            self._add("customer_id", "is not an active customer within reach")

    def find_minor_unit(self, currency_code: str) -> int:
        try:
            return minor_unit(currency_code)
        except UnknownCurrencyError:
            self._add("currency_code", "is not a supported currency")
            return 0

    def find_language(self, code: str | None) -> str:
        if code is None:
            return settings.LANGUAGE_CODE
        if code not in dict(settings.LANGUAGES):
            self._add("language", "is not a supported language")
        return code

    def check_dates(self, draft: DraftInput) -> None:
        if draft.due_date < draft.issue_date:
            self._add("due_date", draft_rules.DUE_DATE)

    def normalise(self, draft: DraftInput) -> DraftInput:
        if not 1 <= len(draft.line_items) <= draft_rules.MAX_LINES:
            self._add("line_items", f"must have 1 to {draft_rules.MAX_LINES} entries")
        return replace(
            draft,
            notes=self._text(
                "notes", draft.notes, longest=draft_rules.NOTES_LENGTH, multiline=True
            ),
            reference=self._text(
                "reference", draft.reference, longest=draft_rules.REFERENCE_LENGTH
            ),
            line_items=tuple(
                self._normalise_line(f"line_items.{index}", line)
                for index, line in enumerate(draft.line_items)
            ),
        )

    def calculate(self, line_items: tuple[LineInput, ...], rates: Mapping[UUID, TaxRate]) -> Totals:
        lines, too_large = [], False
        facts = {pk: rate.facts for pk, rate in rates.items()}
        for index, item in enumerate(line_items):
            rate = facts.get(item.tax_rate_id) if item.tax_rate_id else None
            line = _line_amounts(item, rate)
            lines.append(line)
            if item.tax_rate_id and rate is None:
                self._add(f"line_items.{index}.tax_rate_id", "is not an active tax rate")
            if is_discount_too_large(line):
                too_large = True
                self._add(f"line_items.{index}.discount_value", _name_largest_discount(line))
        if too_large:
            return NO_TOTALS
        try:
            return calculate_totals(lines)
        except AmountTooLargeError:
            self._add("line_items", "lead to an amount of more than 18 digits")
            return NO_TOTALS

    def _normalise_line(self, path: str, line: LineInput) -> LineInput:
        description = self._text(
            f"{path}.description",
            line.description,
            longest=draft_rules.DESCRIPTION_LENGTH,
            multiline=True,
        )
        if not description:
            self._add(f"{path}.description", draft_rules.DESCRIPTION)
        if not 0 < line.quantity <= draft_rules.MAX_QUANTITY:
            self._add(f"{path}.quantity", draft_rules.QUANTITY)
        if not 0 <= line.unit_price <= MAX_AMOUNT:
            self._add(f"{path}.unit_price", "must be a whole number of at most 18 digits")
        if (line.discount_type is None) != (line.discount_value is None):
            self._add(f"{path}.discount_value", draft_rules.DISCOUNT_PAIR)
        if line.discount_value is not None and line.discount_value < 0:
            self._add(f"{path}.discount_value", "must not be negative")
        unit = self._text(f"{path}.unit", line.unit, longest=draft_rules.UNIT_LENGTH)
        if (description, unit) == (line.description, line.unit):
            return line
        return line._replace(description=description, unit=unit)

    def _text(self, path: str, value: str, *, longest: int, multiline: bool = False) -> str:
        try:
            text = normalise_text(value, multiline=multiline)
        except ControlCharacterError:
            self._add(path, draft_rules.CHARACTERS)
            return ""
        if len(text) > longest:
            self._add(path, draft_rules.LENGTH.format(longest=longest))
        return text

    def _add(self, path: str, problem: str) -> None:
        self.problems.append(FieldProblem(path, problem))


def _active_rates(line_items: tuple[LineInput, ...]) -> dict[UUID, TaxRate]:
    rate_ids = {item.tax_rate_id for item in line_items if item.tax_rate_id}
    if not rate_ids:
        return {}
    active = RATES.find(RATES.among("id", rate_ids), RATES.equal(is_active=True))
    return {rate.id: rate for rate in active}


def _name_largest_discount(line: LineAmounts) -> str:
    if line.discount_type is DiscountType.PERCENT:
        return "must be at most 100 %"
    return draft_rules.DISCOUNT_AMOUNT


def _line_amounts(item: LineInput, rate: TaxFacts | None) -> LineAmounts:
    return LineAmounts(
        quantity=item.quantity,
        unit_price=item.unit_price,
        discount_type=item.discount_type,
        discount_value=item.discount_value,
        tax_rate=rate,
    )
