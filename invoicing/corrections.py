"""What is left of an invoice after its corrections, and what one more of them takes back.

A part of a line is computed as a line of an invoice is, and capped at what is left; what takes the
rest takes exactly the rest. So however an invoice is corrected step by step, it ends at exactly 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from invoicing.money import round_half_up
from invoicing.totals import (
    BASIS_POINTS,
    DiscountType,
    LineAmounts,
    TaxFacts,
    gross_amount,
    tax_amount,
)


class LinePart(NamedTuple):
    """A part of a line: its quantity in ten-thousandths, its amounts in minor units."""

    quantity: int
    discount_amount: int
    net_amount: int

    @property
    def gross(self) -> int:
        return self.discount_amount + self.net_amount


class TaxPart(NamedTuple):
    """A part of what all lines of one rate come to, in minor units."""

    taxable_amount: int
    tax_amount: int


@dataclass(frozen=True)
class Part:
    """A part of an invoice: of its lines and its rates, by ID, and of its tax as it is declared.

    `national_tax` is in minor units of the currency in which the seller declares tax; 0 where the
    invoice does not tell it.
    """

    lines: Mapping[UUID, LinePart]
    taxes: Mapping[UUID, TaxPart]
    national_tax: int

    @property
    def net_total(self) -> int:
        return sum(part.net_amount for part in self.lines.values())

    @property
    def discount_total(self) -> int:
        return sum(part.discount_amount for part in self.lines.values())

    @property
    def tax_total(self) -> int:
        return sum(part.tax_amount for part in self.taxes.values())

    @property
    def grand_total(self) -> int:
        return self.net_total + self.tax_total


def subtract(whole: Part, taken: Part) -> Part:
    """Return what is left of a part, line by line and rate by rate."""
    none, untaxed = LinePart(0, 0, 0), TaxPart(0, 0)
    return Part(
        {
            pk: LinePart(*(a - b for a, b in zip(part, taken.lines.get(pk, none), strict=True)))
            for pk, part in whole.lines.items()
        },
        {
            pk: TaxPart(*(a - b for a, b in zip(part, taken.taxes.get(pk, untaxed), strict=True)))
            for pk, part in whole.taxes.items()
        },
        whole.national_tax - taken.national_tax,
    )


@dataclass(frozen=True)
class Balance:
    """An issued invoice, its lines by ID and in order, and what is left of it.

    `declare` converts tax into the currency in which the seller declares it.
    """

    lines: Mapping[UUID, LineAmounts]
    left: Part
    declare: Callable[[int], int]

    def find_excess(self, quantities: Mapping[UUID, int]) -> set[UUID]:
        """Return the lines of which the quantities are not more than 0 and at most what is left."""
        most = {pk: part.quantity for pk, part in self.left.lines.items()}
        return {pk for pk, asked in quantities.items() if not 0 < asked <= most.get(pk, 0)}

    def take(self, quantities: Mapping[UUID, int]) -> Part:
        """Return what a correction of these quantities takes back, none of them in excess."""
        lines = {
            pk: _take_of_line(line, self.left.lines[pk], quantities[pk])
            for pk, line in self.lines.items()
            if pk in quantities
        }
        taken = Part(lines, self._take_taxes(lines), 0)
        return replace(taken, national_tax=self._take_national_tax(taken.tax_total))

    def after(self, taken: Part) -> "Balance":
        """Return what is left once a correction that takes this is issued."""
        return replace(self, left=subtract(self.left, taken))

    def _take_taxes(self, lines: Mapping[UUID, LinePart]) -> dict[UUID, TaxPart]:
        taxable: dict[TaxFacts, int] = {}
        for pk, part in lines.items():
            if rate := self.lines[pk].tax_rate:
                taxable[rate] = taxable.get(rate, 0) + part.net_amount
        return {
            rate.id: _take_of_tax(rate, self.left.taxes[rate.id], amount)
            for rate, amount in taxable.items()
        }

    def _take_national_tax(self, tax: int) -> int:
        if tax == self.left.tax_total:
            return self.left.national_tax
        return min(self.declare(tax), self.left.national_tax)


def _take_of_line(line: LineAmounts, left: LinePart, quantity: int) -> LinePart:
    if quantity == left.quantity:
        return left
    gross = min(gross_amount(quantity, line.unit_price), left.gross)
    discount = min(_discount_of(line, quantity, gross), left.discount_amount, gross)
    return LinePart(quantity, discount, min(gross - discount, left.net_amount))


def _discount_of(line: LineAmounts, quantity: int, gross: int) -> int:
    """Return the discount on a part of a line; an amount is divided in proportion."""
    value = line.discount_value or 0
    if line.discount_type is DiscountType.PERCENT:
        return round_half_up(gross * value, BASIS_POINTS)
    return round_half_up(value * quantity, line.quantity)


def _take_of_tax(rate: TaxFacts, left: TaxPart, taxable_amount: int) -> TaxPart:
    if taxable_amount == left.taxable_amount:
        return left
    return TaxPart(taxable_amount, min(tax_amount(rate, taxable_amount), left.tax_amount))
