"""The totals of a document, computed from its lines as EN 16931 does, in minor units.

There are discounts of lines only, no allowances or charges of a whole document (BG-20, BG-21).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from invoicing.errors import AmountTooLargeError
from invoicing.fixed_point import SCALE
from invoicing.money import MAX_AMOUNT, round_half_up

# 100 % in the unit of a discount's percentage, and in that of a tax rate.
BASIS_POINTS = 10_000
HUNDRED_PERCENT = 100 * SCALE


class DiscountType(StrEnum):
    """How a line's discount value is read: as basis points or as minor units."""

    PERCENT = "percent"
    AMOUNT = "amount"


class TaxFacts(NamedTuple):
    """A tax rate as a document keeps it, its percentage (BT-119) in ten-thousandths of 1 %."""

    id: UUID
    name: str
    percentage: int


class LineAmounts(NamedTuple):
    """What the totals of a line are computed from.

    The quantity (BT-129) is in ten-thousandths, the unit price in minor units, the discount value
    in the unit that its type says.
    """

    quantity: int
    unit_price: int
    discount_type: DiscountType | None = None
    discount_value: int | None = None
    tax_rate: TaxFacts | None = None


class LineTotals(NamedTuple):
    """The amounts of one line before tax: gross, discount (BT-136), and net of it (BT-131)."""

    gross: int
    discount_amount: int
    net_amount: int


class TaxTotal(NamedTuple):
    """A row of the VAT breakdown (BG-23): the taxable amount (BT-116) and the tax (BT-117)."""

    rate: TaxFacts
    taxable_amount: int
    tax_amount: int


@dataclass(frozen=True)
class Totals:
    """The amounts of a document; the tax rows are in the order in which lines first use a rate.

    The net total is BT-109, the tax total BT-110, the grand total BT-112. The discount total is the
    sum of the lines' discounts, which the net total has deducted already.
    """

    lines: tuple[LineTotals, ...]
    tax_breakdown: tuple[TaxTotal, ...]
    net_total: int
    discount_total: int
    tax_total: int
    grand_total: int


def gross_amount(quantity: int, unit_price: int) -> int:
    """Return a quantity, in ten-thousandths, times a unit price: before discount and before tax."""
    return round_half_up(quantity * unit_price, SCALE)


def tax_amount(rate: TaxFacts, taxable_amount: int) -> int:
    """Return the tax on what all lines of a rate come to."""
    return round_half_up(taxable_amount * rate.percentage, HUNDRED_PERCENT)


def is_discount_too_large(line: LineAmounts) -> bool:
    """Return whether the discount is larger than the gross amount of the line."""
    value = line.discount_value or 0
    if line.discount_type is DiscountType.PERCENT:
        return value > BASIS_POINTS
    return value > gross_amount(line.quantity, line.unit_price)


def calculate_totals(lines: Sequence[LineAmounts]) -> Totals:
    """Compute every amount of a document, of which no line has a discount that is too large.

    Raises AmountTooLargeError if any amount needs more than 18 digits.
    """
    line_totals = tuple(_line_totals(line) for line in lines)
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


def _line_totals(line: LineAmounts) -> LineTotals:
    gross = gross_amount(line.quantity, line.unit_price)
    discount = line.discount_value or 0
    if line.discount_type is DiscountType.PERCENT:
        discount = round_half_up(gross * discount, BASIS_POINTS)
    return LineTotals(gross=gross, discount_amount=discount, net_amount=gross - discount)


def _tax_breakdown(
    lines: Iterable[LineAmounts], line_totals: Iterable[LineTotals]
) -> tuple[TaxTotal, ...]:
    """Compute tax per rate, not per line (EN 16931 BR-CO-17); a line without a rate is untaxed."""
    taxable_amounts: dict[TaxFacts, int] = {}
    for line, totals in zip(lines, line_totals, strict=True):
        if line.tax_rate is not None:
            taxable = taxable_amounts.get(line.tax_rate, 0)
            taxable_amounts[line.tax_rate] = taxable + totals.net_amount
    return tuple(
        TaxTotal(rate, taxable, tax_amount(rate, taxable))
        for rate, taxable in taxable_amounts.items()
    )


def _refuse_large_amounts(totals: Totals) -> None:
    """Check the largest amounts; none is negative, so these bound all others."""
    amounts = [line.gross for line in totals.lines]
    amounts += [totals.discount_total, totals.grand_total]
    if any(amount > MAX_AMOUNT for amount in amounts):
        raise AmountTooLargeError
