from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Self
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invoicing.errors import AmountTooLargeError
from invoicing.field_kinds import MAX_QUANTITY
from invoicing.totals import DiscountType, LineAmounts, TaxFacts, calculate_totals

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

CEILING = 10**18
RATES = [
    TaxFacts(id=UUID(int=percentage), name=str(percentage), percentage=percentage)
    for percentage in (0, 70_000, 88_750, 190_000, 250_000, 333_333, 1_000_000)
]


def rounded(amount: Fraction) -> int:
    return floor(amount + Fraction(1, 2))


@dataclass
class OracleTotals:
    """The rules of the field said once more, in fractions and without a shared line of code."""

    lines: list[tuple[int, int, int]]
    taxes: dict[UUID, tuple[int, int]]

    @classmethod
    def of(cls, lines) -> Self:
        rows = [cls.line(line) for line in lines]
        taxes = {}
        for rate in {line.tax_rate for line in lines if line.tax_rate}:
            taxable = sum(
                net for (_, _, net), line in zip(rows, lines, strict=True) if line.tax_rate == rate
            )
            share = Fraction(rate.percentage, 10_000) / 100
            taxes[rate.id] = (taxable, rounded(taxable * share))
        return cls(rows, taxes)

    @staticmethod
    def line(line) -> tuple[int, int, int]:
        gross = rounded(Fraction(line.quantity, 10_000) * line.unit_price)
        discount = line.discount_value or 0
        if line.discount_type == "percent":
            discount = rounded(Fraction(discount, 100) / 100 * gross)
        return gross, discount, gross - discount

    @property
    def net(self) -> int:
        return sum(net for _, _, net in self.lines)

    @property
    def tax(self) -> int:
        return sum(tax for _, tax in self.taxes.values())

    @property
    def fits(self) -> bool:
        amounts = [amount for line in self.lines for amount in line]
        amounts += [amount for row in self.taxes.values() for amount in row]
        amounts += [self.net, self.tax, self.net + self.tax, sum(d for _, d, _ in self.lines)]
        return max(amounts) < CEILING


@st.composite
def line_amounts(draw, quantities, prices) -> LineAmounts:
    quantity, unit_price = draw(quantities), draw(prices)
    kind = draw(st.sampled_from([None, *DiscountType]))
    gross, _, _ = OracleTotals.line(LineAmounts(quantity=quantity, unit_price=unit_price))
    largest = {None: 0, DiscountType.PERCENT: 10_000, DiscountType.AMOUNT: gross}[kind]
    value = draw(st.integers(0, largest))
    return LineAmounts(
        quantity=quantity,
        unit_price=unit_price,
        discount_type=kind,
        discount_value=None if kind is None else value,
        tax_rate=draw(st.sampled_from([None, *RATES])),
    )


everyday_lines = line_amounts(st.integers(1, 10_000_000), st.integers(0, 1_000_000))
huge_lines = line_amounts(st.integers(1, MAX_QUANTITY), st.integers(0, CEILING - 1))
near_the_ceiling = line_amounts(st.integers(1, 20_000), st.integers(CEILING // 4, CEILING - 1))


@pytest.mark.requirement("money.scale_and_totals")
@given(st.lists(everyday_lines | huge_lines | near_the_ceiling, min_size=1, max_size=8))
def test_totals_agree_with_an_independent_oracle(lines) -> None:
    expected = OracleTotals.of(lines)
    if not expected.fits:
        with pytest.raises(AmountTooLargeError):
            calculate_totals(lines)
        return
    totals = calculate_totals(lines)
    assert [(line.gross, line.discount_amount, line.net_amount) for line in totals.lines] == (
        expected.lines
    )
    assert {
        row.rate.id: (row.taxable_amount, row.tax_amount) for row in totals.tax_breakdown
    } == expected.taxes
    assert (totals.net_total, totals.tax_total) == (expected.net, expected.tax)
    assert totals.grand_total == expected.net + expected.tax
    assert totals.discount_total == sum(discount for _, discount, _ in expected.lines)


@given(st.lists(everyday_lines, min_size=1, max_size=8))
def test_tax_rows_stand_in_the_order_in_which_lines_first_use_a_rate(lines) -> None:
    used = list(dict.fromkeys(line.tax_rate for line in lines if line.tax_rate))
    assert [row.rate for row in calculate_totals(lines).tax_breakdown] == used


@given(st.lists(everyday_lines, min_size=1, max_size=8))
def test_nothing_is_ever_a_float_or_negative(lines) -> None:
    totals = calculate_totals(lines)
    amounts = [totals.net_total, totals.discount_total, totals.tax_total, totals.grand_total]
    amounts += [line.net_amount for line in totals.lines]
    assert all(type(amount) is int and amount >= 0 for amount in amounts)
