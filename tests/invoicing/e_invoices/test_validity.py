"""E-invoices are valid by the official rules, and say what was frozen to the cent."""

from decimal import Decimal
from typing import Any

import pytest
from facturx import parse_ubl_cii_xml

from invoicing.e_invoices.reading import read_invoice
from invoicing.e_invoices.terms import Kind
from invoicing.e_invoices.ubl import write_ubl
from invoicing.e_invoices.writing import write_e_invoice
from invoicing.models import DocumentType
from invoicing.totals import DiscountType
from tests.invoicing.e_invoices.rules import Rules, broken_rules, check_schema
from tests.invoicing.e_invoices.samples import (
    REDUCED,
    STANDARD,
    SUPPLY_OF_GOODS,
    UNTAXED,
    Rate,
    Sample,
    SampleLine,
    sample,
)

RULES = {
    Kind.FACTUR_X: (Rules.FACTUR_X, Rules.CII),
    Kind.XRECHNUNG: (Rules.CII, Rules.XRECHNUNG_CII),
    Kind.PEPPOL: (Rules.UBL,),
}
DISCOUNTED = (
    SampleLine(discount_type=DiscountType.PERCENT, discount_value=1250),
    SampleLine(discount_type=DiscountType.AMOUNT, discount_value=100, rate=REDUCED),
    SampleLine(discount_type=DiscountType.PERCENT, discount_value=10_000),
    SampleLine(discount_type=DiscountType.PERCENT, discount_value=0),
)
SAMPLES = {
    "standard": sample(),
    "two rates": sample(SampleLine(), SampleLine(rate=REDUCED)),
    "zero": sample(SampleLine(rate=Rate("Z"))),
    "exempt": sample(SampleLine(rate=Rate("E"))),
    "reverse charge": sample(SampleLine(rate=Rate("AE"))),
    "intra-community": sample(SampleLine(rate=Rate("K")), **SUPPLY_OF_GOODS),
    "export": sample(SampleLine(rate=Rate("G")), buyer={"country": "CH", "vat_number": None}),
    "outside of scope": sample(SampleLine(rate=Rate("O"))),
    "outside of scope, untaxed": sample(SampleLine(rate=Rate("O", name=""))),
    "untaxed beside taxed": sample(SampleLine(), SampleLine(rate=UNTAXED)),
    "rates of one category": sample(
        SampleLine(rate=Rate("E", name="A", reason="§ 4 no. 11 UStG")),
        SampleLine(rate=Rate("E", name="B", reason="§ 4 no. 14 UStG")),
        SampleLine(rate=UNTAXED),
    ),
    "all but O": sample(
        *(SampleLine(rate=Rate(category, name=category)) for category in ("Z", "E", "AE", "K", "G")),
        SampleLine(),
        **SUPPLY_OF_GOODS,
    ),
    "small business": sample(
        SampleLine(rate=UNTAXED), seller={"vat_number": "", "registration": None}
    ),
    "discounts": sample(*DISCOUNTED),
    "nothing to pay": sample(SampleLine(unit_price=0)),
    "credit note": sample(
        *DISCOUNTED,
        document_type=DocumentType.CREDIT_NOTE,
        corrects={"number": "INV-2025-0009", "issue_date": "2025-12-30"},
        correction_reason="Returned",
    ),
    "credit note of nothing": sample(document_type=DocumentType.CREDIT_NOTE, notes=""),
    "dollars with national tax": sample(
        currency_code="USD",
        national_currency="EUR",
        national_minor_unit=2,
        national_tax_total=3251,
    ),
    "no decimals": sample(SampleLine(unit_price=1000), currency_code="JPY", minor_unit=0),
    "fine percentage": sample(SampleLine(rate=Rate("S", "8.875"))),
    "period": sample(supply_date="2026-02-01", supply_end_date="2026-02-28"),
    "delivered in the country": sample(buyer={"country": "DE"}, delivery_country="DE"),
    "delivered elsewhere": sample(delivery_country="BE"),
    "large": sample(SampleLine(quantity="99999.9999", unit_price=999_999_999)),
    "100 lines": sample(*(SampleLine(rate=(STANDARD, REDUCED)[n % 2]) for n in range(100))),
    "Kosovo": sample(buyer={"country": "XK", "vat_number": ""}),
    "hardly a text": sample(notes="\ufffe", reference="", seller={"footer_text": None}),
}


def read_back(xml: bytes) -> dict[str, Any]:
    """Read the XML, after a check by its schema, as another program does: terms by their number."""
    terms: dict[str, Any] = parse_ubl_cii_xml(xml)
    return terms


def amounts_of(facts: dict[str, Any], *names: str) -> list[Decimal]:
    return [Decimal(facts[name]).scaleb(-facts["minor_unit"]) for name in names]


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", SAMPLES)
def test_an_e_invoice_breaks_no_rule_and_says_the_totals(name, kind):
    document, facts = SAMPLES[name]
    xml = write_e_invoice(document, facts, kind)
    assert [broken for rules in RULES[kind] for broken in broken_rules(xml, rules)] == []
    read = read_back(xml)
    print(read)
