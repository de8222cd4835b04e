import json
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from invoicing.fixed_point import parse_fixed_point
from invoicing.money import minor_unit
from invoicing.totals import (
    DiscountType,
    LineAmounts,
    LineTotals,
    TaxFacts,
    TaxTotal,
    Totals,
    calculate_totals,
    gross_amount,
    is_discount_too_large,
)

VECTORS = Path(__file__).parent.parent / "vectors" / "en16931_totals.json"
INVOICES = json.loads(VECTORS.read_text(encoding="utf-8"))["invoices"]

STANDARD = TaxFacts(id=UUID(int=1), name="Standard", percentage=190_000)
REDUCED = TaxFacts(id=UUID(int=2), name="Reduced", percentage=70_000)
NEW_YORK = TaxFacts(id=UUID(int=3), name="New York", percentage=88_750)
ONE = 10_000


def in_minor_units(text, currency_code) -> int:
    amount = Decimal(text).scaleb(minor_unit(currency_code))
    assert amount == int(amount)
    return int(amount)


def published_line(line, currency_code) -> LineAmounts:
    percent = line["vat_percent"]
    return LineAmounts(
        quantity=parse_fixed_point(line["quantity"]),
        unit_price=in_minor_units(line["unit_price"], currency_code),
        discount_type=DiscountType.AMOUNT,
        discount_value=in_minor_units(line["discount_amount"], currency_code),
        tax_rate=TaxFacts(UUID(int=0), percent, parse_fixed_point(percent)),
    )


def test_there_are_21_published_invoices() -> None:
    assert len(INVOICES) == 21


@pytest.mark.requirement("money.scale_and_totals")
@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice["source"][-40:])
def test_a_published_invoice_comes_to_its_published_figures(invoice) -> None:
    currency_code = invoice["currency"]
    totals = calculate_totals([published_line(line, currency_code) for line in invoice["lines"]])
    assert [line.net_amount for line in totals.lines] == [
        in_minor_units(line["expected_line_net"], currency_code) for line in invoice["lines"]
    ]
    expected = in_minor_units(invoice["expected_total_with_vat"], currency_code)
    assert totals.grand_total == expected


@pytest.mark.requirement(
    "money.scale_and_totals", "line_item.discount_percent", "line_item.discount_amount"
)
def test_every_amount_of_a_document_is_computed() -> None:
    totals = calculate_totals(
        [
            LineAmounts(
                quantity=15_000,
                unit_price=333,
                discount_type=DiscountType.PERCENT,
                discount_value=1000,
                tax_rate=STANDARD,
            ),
            LineAmounts(
                quantity=ONE,
                unit_price=1000,
                discount_type=DiscountType.AMOUNT,
                discount_value=1,
                tax_rate=REDUCED,
            ),
            LineAmounts(quantity=2 * ONE, unit_price=50, tax_rate=STANDARD),
            LineAmounts(quantity=ONE, unit_price=7),
        ]
    )
    assert totals == Totals(
        # 1.5 x 333 = 499.5, half up; a tenth of 500 off.
        lines=(
            LineTotals(500, 50, 450),
            LineTotals(1000, 1, 999),
            LineTotals(100, 0, 100),
            LineTotals(7, 0, 7),
        ),
        # 19 % of 550 = 104.5, half up; 7 % of 999 = 69.93.
        tax_breakdown=(TaxTotal(STANDARD, 550, 105), TaxTotal(REDUCED, 999, 70)),
        net_total=1556,
        discount_total=51,
        tax_total=175,
        grand_total=1731,
    )


def test_tax_is_rounded_once_per_rate_and_not_per_line() -> None:
    line = LineAmounts(quantity=ONE, unit_price=5, tax_rate=NEW_YORK)
    # 8.875 % of 5 is 0.44 and rounds to nothing; of 50 it is 4.44.
    assert calculate_totals([line]).tax_total == 0
    assert calculate_totals([line] * 10).tax_total == 4


@pytest.mark.parametrize(
    ("discount_type", "largest"), [(DiscountType.PERCENT, 10_000), (DiscountType.AMOUNT, 99)]
)
def test_a_discount_may_not_take_more_than_the_line(discount_type, largest) -> None:
    line = LineAmounts(
        quantity=ONE, unit_price=99, discount_type=discount_type, discount_value=largest
    )
    assert not is_discount_too_large(line)
    assert is_discount_too_large(line._replace(discount_value=largest + 1))


def test_a_gross_amount_is_rounded_half_up() -> None:
    assert gross_amount(1, 5000) == 1
    assert gross_amount(1, 4999) == 0
