"""From lines to totals in integers of the minor unit, as EN 16931 computes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from invoicing.errors import AmountTooLargeError, DiscountTooLargeError
from invoicing.fixed_point import SCALE
from invoicing.money import MAX_AMOUNT, round_half_up

BASIS_POINTS = 10_000
HUNDRED_PERCENT = 100 * SCALE


class DiscountType(StrEnum):
    """How a line's discount value is read: as basis points or as minor units."""

    PERCENT = "percent"
    AMOUNT = "amount"


class TaxFacts(NamedTuple):
    """A tax rate as a document keeps it; the percentage is in ten-thousandths of a percent."""

    id: UUID
    name: str
    percentage: int


class LineAmounts(NamedTuple):
    """The figures of one line; the quantity is in ten-thousandths."""

    quantity: int
    unit_price: int
    discount_type: DiscountType | None = None
    discount_value: int | None = None
    tax_rate: TaxFacts | None = None


class LineTotals(NamedTuple):
    """What one line comes to."""

    gross: int
    discount_amount: int
    net_amount: int


class TaxTotal(NamedTuple):
    """What all lines of one rate come to."""

    rate: TaxFacts
    taxable_amount: int
    tax_amount: int


@dataclass(frozen=True)
class Totals:
    """What a document comes to; the tax rows are in the order in which lines first use a rate."""

    lines: tuple[LineTotals, ...]
    tax_breakdown: tuple[TaxTotal, ...]
    net_total: int
    discount_total: int
    tax_total: int
    grand_total: int


def gross_amount(quantity: int, unit_price: int) -> int:
    """Return what a quantity in ten-thousandths costs before discount and tax."""
    return round_half_up(quantity * unit_price, SCALE)


def is_discount_too_large(line: LineAmounts) -> bool:
    """Tell whether the discount would take more than the line is worth."""
    value = line.discount_value or 0
    if line.discount_type is DiscountType.PERCENT:
        return value > BASIS_POINTS
    return value > gross_amount(line.quantity, line.unit_price)


def calculate_totals(lines: Sequence[LineAmounts]) -> Totals:
    """Compute every amount of a document.

    Raises DiscountTooLargeError for the first line whose discount is, and AmountTooLargeError
    where any amount on the way needs more than eighteen digits.
    """
    line_totals = tuple(_line_totals(index, line) for index, line in enumerate(lines))
    tax_breakdown = _tax_breakdown(lines, line_totals)
    net_total = sum(line.net_amount for line in line_totals)
    tax_total = sum(row.tax_amount for row in tax_breakdown)
    totals = Totals(
        lines=line_totals,
        tax_breakdown=tax_breakdown,
        net_total=net_total,
        discount_total=sum(line.discount_amount for line in line_totals),
        tax_total=tax_total,
        grand_total=net_total + tax_total,
    )
    _refuse_large_amounts(totals)
    return totals


def _line_totals(index: int, line: LineAmounts) -> LineTotals:
    if is_discount_too_large(line):
        raise DiscountTooLargeError(index)
    gross = gross_amount(line.quantity, line.unit_price)
    discount = line.discount_value or 0
    if line.discount_type is DiscountType.PERCENT:
        discount = round_half_up(gross * discount, BASIS_POINTS)
    return LineTotals(gross=gross, discount_amount=discount, net_amount=gross - discount)


def _tax_breakdown(
    lines: Iterable[LineAmounts], line_totals: Iterable[LineTotals]
) -> tuple[TaxTotal, ...]:
    """Tax is computed per rate, not per line (EN 16931 BR-CO-17); no rate means no tax."""
    taxable_amounts: dict[TaxFacts, int] = {}
    for line, totals in zip(lines, line_totals, strict=True):
        if line.tax_rate is not None:
            taxable = taxable_amounts.get(line.tax_rate, 0)
            taxable_amounts[line.tax_rate] = taxable + totals.net_amount
    return tuple(
        TaxTotal(rate, taxable, round_half_up(taxable * rate.percentage, HUNDRED_PERCENT))
        for rate, taxable in taxable_amounts.items()
    )


def _refuse_large_amounts(totals: Totals) -> None:
    """No amount is negative, so the largest of each kind bounds the others."""
    amounts = [line.gross for line in totals.lines]
    amounts += [totals.discount_total, totals.grand_total]
    if any(amount > MAX_AMOUNT for amount in amounts):
        raise AmountTooLargeError
