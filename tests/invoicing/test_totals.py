import json
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from invoicing.fixed_point import parse_fixed_point
from invoicing.money import minor_unit
from invoicing.totals import DiscountType, LineAmounts, TaxFacts, calculate_totals

VECTORS = Path(__file__).parent.parent / "vectors" / "en16931_totals.json"
INVOICES = json.loads(VECTORS.read_text(encoding="utf-8"))["invoices"]


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
