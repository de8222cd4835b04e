"""What is left of an invoice, and what each correction takes back of it."""

from functools import partial
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invoicing.corrections import Balance, LinePart, Part, TaxPart
from invoicing.fixed_point import SCALE
from invoicing.money import ExchangeRate, Money, convert
from invoicing.totals import DiscountType, LineAmounts, TaxFacts, calculate_totals
from tests.invoicing.test_totals_properties import line_amounts

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

VAT = TaxFacts(id=UUID(int=19), name="VAT", percentage=19 * SCALE)
FIRST, SECOND = UUID(int=1), UUID(int=2)
RATE = ExchangeRate(1_085_700, "EUR")


def declare(tax: int, rate: ExchangeRate = RATE) -> int:
    return convert(Money(tax, "USD", 2), rate, "EUR", 2) or 0


def balance_of(*lines: LineAmounts, rate: ExchangeRate = RATE) -> Balance:
    """Return an invoice of USD of which nothing was corrected yet."""
    totals, keys = calculate_totals(lines), [UUID(int=place + 1) for place in range(len(lines))]
    computed = {
        key: LinePart(line.quantity, told.discount_amount, told.net_amount)
        for key, line, told in zip(keys, lines, totals.lines, strict=True)
    }
    taxes = {
        row.rate.id: TaxPart(row.taxable_amount, row.tax_amount) for row in totals.tax_breakdown
    }
    whole = Part(computed, taxes, declare(totals.tax_total, rate))
    return Balance(dict(zip(keys, lines, strict=True)), whole, partial(declare, rate=rate))


def take_in_turn(balance: Balance, *steps: dict[UUID, int]) -> list[Part]:
    parts = []
    for step in steps:
        assert not balance.find_excess(step)
        parts.append(balance.take(step))
        balance = balance.after(parts[-1])
    return parts


def test_thirds_and_the_rest_come_to_the_whole():
    balance = balance_of(LineAmounts(SCALE, 10_000, tax_rate=VAT))
    parts = take_in_turn(balance, *[{FIRST: 3333}] * 3, {FIRST: 1})
    assert [part.lines[FIRST].net_amount for part in parts] == [3333, 3333, 3333, 1]
    assert [part.taxes[VAT.id].tax_amount for part in parts] == [633, 633, 633, 1]


def test_a_discount_of_an_amount_is_divided_in_proportion():
    line = LineAmounts(3 * SCALE, 1000, DiscountType.AMOUNT, 100, VAT)
    parts = take_in_turn(balance_of(line), *[{FIRST: SCALE}] * 3)
    assert [part.lines[FIRST] for part in parts] == [
        LinePart(SCALE, 33, 967),
        LinePart(SCALE, 33, 967),
        LinePart(SCALE, 34, 966),
    ]


def test_what_is_rounded_up_is_capped_at_what_is_left():
    """Each half of a unit at 0.01 would be 0.01."""
    line = LineAmounts(15_000, 1, tax_rate=None)
    parts = take_in_turn(balance_of(line), *[{FIRST: 5000}] * 3)
    assert [part.lines[FIRST].net_amount for part in parts] == [1, 1, 0]


def test_tax_is_rounded_once_for_all_lines_of_a_rate_and_ends_at_the_rest():
    lines = [LineAmounts(SCALE, 50, tax_rate=VAT), LineAmounts(SCALE, 55, tax_rate=VAT)]
    balance = balance_of(*lines)
    assert balance.left.taxes == {VAT.id: TaxPart(105, 20)}
    first, second = take_in_turn(balance, {FIRST: SCALE}, {SECOND: SCALE})
    assert (first.taxes[VAT.id].tax_amount, second.taxes[VAT.id].tax_amount) == (10, 10)


@pytest.mark.parametrize("quantity", [0, -1, SCALE + 1])
def test_more_than_is_left_and_less_than_nothing_is_an_excess(quantity):
    balance = balance_of(LineAmounts(SCALE, 10_000))
    assert balance.find_excess({FIRST: quantity}) == {FIRST}
    assert balance.find_excess({SECOND: 1}) == {SECOND}


# Of what is left of each line, so many thousandths; the last step takes the rest.
STEPS = st.lists(st.lists(st.integers(0, 1000), min_size=4, max_size=4), max_size=6)
LINES = st.lists(
    line_amounts(st.integers(1, 50_000), st.integers(0, 100_000)), min_size=1, max_size=4
)


@given(LINES, st.integers(1, 500_000_000), STEPS)
def test_any_sequence_of_corrections_ends_at_exactly_0_and_is_never_below(lines, rate, steps):
    balance = balance_of(*lines, rate=ExchangeRate(rate, "USD"))
    for shares in [*steps, [1000] * 4]:
        asked = {
            pk: part.quantity * share // 1000
            for (pk, part), share in zip(balance.left.lines.items(), shares, strict=False)
        }
        taken = balance.take({pk: quantity for pk, quantity in asked.items() if quantity})
        balance = balance.after(taken)
        for part in (taken, balance.left):
            amounts = [part.national_tax, *(each for line in part.lines.values() for each in line)]
            amounts += [amount for tax in part.taxes.values() for amount in tax]
            assert min(amounts) >= 0
    left = balance.left
    assert set(left.lines.values()) == {LinePart(0, 0, 0)}
    assert set(left.taxes.values()) <= {TaxPart(0, 0)}
    assert (left.national_tax, left.grand_total, left.discount_total) == (0, 0, 0)
