"""E-invoices are valid by the official rules, and say what was frozen, to the cent."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from facturx import parse_ubl_cii_xml

from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.reading import read_invoice
from invoicing.e_invoices.ubl import write_ubl
from invoicing.e_invoices.units import _WORDS
from invoicing.e_invoices.writing import write_e_invoice
from invoicing.fixed_point import format_fixed_point, parse_fixed_point
from invoicing.models import DocumentType
from invoicing.totals import DiscountType
from tests.invoicing.e_invoices.rules import RULES, Rules, broken_rules, check_schema
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
from tests.invoicing.test_totals import INVOICES, in_minor_units

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

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
        *(
            SampleLine(rate=Rate(category, name=category))
            for category in ("Z", "E", "AE", "K", "G")
        ),
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
    "no decimals": sample(
        SampleLine(unit_price=1000),
        SampleLine(
            quantity="1",
            unit_price=834,
            discount_type=DiscountType.PERCENT,
            discount_value=6,
        ),
        currency_code="JPY",
        minor_unit=0,
    ),
    "fine percentage": sample(SampleLine(rate=Rate("S", "8.875"))),
    "half a percent": sample(SampleLine(rate=Rate("S", "0.5"))),
    "hardly any tax": sample(SampleLine(rate=Rate("S", "0.2"))),
    "rounded by less than a yen": sample(
        *(
            SampleLine(rate=Rate("S", "19", name), quantity="1", unit_price=8)
            for name in ("A", "B")
        ),
        currency_code="JPY",
        minor_unit=0,
    ),
    "period": sample(supply_date="2026-02-01", supply_end_date="2026-02-28"),
    "delivered in the country": sample(buyer={"country": "DE"}, delivery_country="DE"),
    "delivered elsewhere": sample(delivery_country="BE"),
    "large": sample(SampleLine(quantity="99999.9999", unit_price=999_999_999)),
    "100 lines": sample(*(SampleLine(rate=(STANDARD, REDUCED)[n % 2]) for n in range(100))),
    "every unit": sample(*(SampleLine(unit=words.split()[0]) for words in _WORDS.values())),
    "Kosovo": sample(buyer={"country": "XK", "vat_number": "XK810123456"}),
    "a number that is no VAT identifier": sample(
        buyer={"country": "JP", "vat_number": "T9005062680752"}
    ),
    "hardly a text": sample(notes="\ufffe", reference="", seller={"footer_text": None}),
}


# Where kinds differ: BT-23 and BT-24 say which one it is, and only XRechnung needs the whole
# address of delivery.
OF_KIND = {"BT-23", "BT-24", "BG-13"}


def read_back(xml: bytes) -> dict[str, Any]:
    """Return the terms by their numbers, as another program reads them.

    In UBL a tax number has any scheme but VAT: in Peppol TAX, while this program knows LOC.
    """
    terms: dict[str, Any] = parse_ubl_cii_xml(xml.replace(b">TAX<", b">LOC<"), check_xsd=False)
    return terms


def figures_of(facts: dict[str, Any]) -> dict[str, Decimal]:
    names = {"BT-109": "net_total", "BT-110": "tax_total", "BT-112": "grand_total"}
    return {term: Decimal(facts[name]).scaleb(-facts["minor_unit"]) for term, name in names.items()}


def check(made: Sample) -> None:
    """Write the document as each kind; each must be valid, and all must say the same."""
    document, facts = made
    written = {kind: write_e_invoice(document, facts, kind) for kind in Kind}
    for xml in written.values():
        check_schema(xml)
    assert {kind: broken_rules(xml, *RULES[kind]) for kind, xml in written.items()} == {
        kind: [] for kind in Kind
    }
    # There is no XRechnung in UBL to be had: it shows that what XRechnung asks for is in UBL too.
    ubl = write_ubl(read_invoice(document, facts, Kind.XRECHNUNG))
    assert broken_rules(ubl, Rules.XRECHNUNG_UBL) == []
    read = [read_back(xml) for xml in written.values()]
    common = [{term: each[term] for term in each.keys() - OF_KIND} for each in read]
    assert common == [common[0]] * len(common)
    figures = figures_of(facts)
    assert {term: Decimal(common[0][term]) for term in figures} == figures
    nets = [Decimal(line["BT-131"]) for line in common[0]["BG-25"]]
    assert nets == [
        Decimal(line["net_amount"]).scaleb(-facts["minor_unit"]) for line in facts["line_items"]
    ]


def published(invoice: dict[str, Any]) -> Sample:
    """Return an invoice that was published, as a document with its lines."""
    currency_code = invoice["currency"]
    return sample(
        *(
            SampleLine(
                rate=Rate("Z" if percent == "0" else "S", percent, f"VAT {percent}"),
                quantity=line["quantity"],
                unit_price=in_minor_units(line["unit_price"], currency_code),
                discount_type=DiscountType.AMOUNT,
                discount_value=in_minor_units(line["discount_amount"], currency_code),
            )
            for line in invoice["lines"]
            for percent in (format_fixed_point(parse_fixed_point(line["vat_percent"])),)
        ),
        currency_code=currency_code,
    )


@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice["source"][-40:])
def test_a_published_invoice_is_valid_and_comes_to_its_published_total(invoice):
    made = published(invoice)
    check(made)
    assert figures_of(made.facts)["BT-112"] == Decimal(invoice["expected_total_with_vat"])


@pytest.mark.parametrize("name", SAMPLES)
def test_an_e_invoice_is_valid_and_says_what_was_frozen(name):
    check(SAMPLES[name])


def test_factur_x_knows_a_currency_that_the_other_kinds_do_not():
    xml = write_e_invoice(*sample(currency_code="STN"), Kind.FACTUR_X)
    assert broken_rules(xml, *RULES[Kind.FACTUR_X]) == []


def test_between_germans_peppol_asks_for_what_xrechnung_does():
    xml = write_e_invoice(*SAMPLES["delivered in the country"], Kind.PEPPOL)
    assert broken_rules(xml, Rules.XRECHNUNG_UBL) == []


def test_only_what_is_no_correction_is_taken_as_supplied_when_it_is_issued():
    corrects = {"number": "INV-2025-0009", "issue_date": "2025-12-30"}
    supplied: list[Any] = [{"supply_date": "2025-12-29"}, {}]
    for kind in Kind:
        correction = [
            sample(document_type=DocumentType.CREDIT_NOTE, corrects=corrects, **told)
            for told in supplied
        ]
        read = [read_back(write_e_invoice(*made, kind)) for made in (sample(), *correction)]
        days = [each.get("BT-72") for each in read]
        assert days == [date(2026, 3, 2), date(2025, 12, 29), None]


def test_a_customer_without_other_numbers_is_known_by_the_tax_number():
    document, facts = sample(buyer={"customer_number": None, "vat_number": ""})
    for kind in Kind:
        buyer = read_back(write_e_invoice(document, facts, kind))["BG-7"]
        assert buyer["identifiers"] == {None: "123456789"}
        assert "tax_identifier" not in buyer


def test_every_term_is_where_another_program_reads_it():
    """One document with every term, word for word: of all others, UBL and CII say the same."""
    document, facts = sample(
        *DISCOUNTED[:2],
        document_type=DocumentType.CREDIT_NOTE,
        corrects={"number": "INV-2025-0009", "issue_date": "2025-12-30"},
        correction_reason="Returned",
        currency_code="USD",
        national_currency="EUR",
        national_minor_unit=2,
        national_tax_total=4000,
        supply_date="2026-02-01",
        supply_end_date="2026-02-28",
        delivery_country="NL",
    )
    read = read_back(write_e_invoice(document, facts, Kind.PEPPOL))
    item = {"BT-153": "Consulting on site", "BT-154": "March, in <Hamburg> & Kiel"}
    sold = {"BT-129": "1.5", "BT-130": "HUR", "BT-146": "123.45", **item}
    percent = {"amount": "23.15", "base_amount": "185.18", "rate": "12.5", "reason_code": "95"}
    amount = {"amount": "1.00", "reason_code": "95"}
    seller_contact = {
        "name": "Dana Okonkwo-Reiß",
        "phone": "+49 40 123456",
        "email": "invoices@halden.example",
    }
    assert read == {
        "BT-24": Kind.PEPPOL.specification,
        "BT-23": "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0",
        "BT-1": "INV-2026-0001",
        "BT-3": "381",
        "BT-2": date(2026, 3, 2),
        "BT-9": date(2026, 4, 1),
        "BT-5": "USD",
        "BT-6": "EUR",
        "BT-10": "04011000-12345-03",
        "BT-13": "PO 7",
        "BG-1": [{"BT-22": "Thank you.\nUntil next time.\nReturned"}],
        "BG-3": [{"BT-25": "INV-2025-0009", "BT-26": date(2025, 12, 30)}],
        "BG-4": {
            "name": "Halden Works",
            "addr_l1": "Harbour Street 1",
            "postcode": "20457",
            "city": "Hamburg",
            "country_code": "DE",
            "vat_identifier": "DE123456789",
            "tax_identifier": "12/345/67890",
            "legal_identifier": "HRB 12345, Amtsgericht Hamburg",
            "legal_info": "Managing director: Olivia Halden\nHamburg",
            "einvoicing_addr": "DE123456789",
            "einvoicing_addr_schemeid": "9930",
            "contacts": [seller_contact],
        },
        "BG-7": {
            "name": "Acme Ltd",
            "identifiers": {None: "10007"},
            "addr_l1": "Mill Lane 7",
            "addr_l2": "c/o The Miller",
            "postcode": "1011 AB",
            "city": "Amsterdam",
            "country_subdivision": "Noord-Holland",
            "country_code": "NL",
            "vat_identifier": "NL001234567B01",
            "einvoicing_addr": "12345678",
            "einvoicing_addr_schemeid": "0106",
            "contacts": [{"email": "invoices@acme.example"}],
        },
        "BT-72": date(2026, 2, 28),
        "BT-73": date(2026, 2, 1),
        "BT-74": date(2026, 2, 28),
        "BG-13": {"country_code": "NL"},
        "BT-81": "30",
        "BT-83": "INV-2026-0001",
        "BT-84": "DE02120300000000202051",
        "BT-85": "Halden Works",
        "BT-86": "BYLADEM1001",
        "BG-23": [
            {"BT-116": "162.03", "BT-117": "30.79", "BT-118": "S", "BT-119": "19"},
            {"BT-116": "184.18", "BT-117": "12.89", "BT-118": "S", "BT-119": "7"},
        ],
        "BT-106": "346.21",
        "BT-109": "346.21",
        "BT-110": "43.68",
        "BT-111": "40.00",
        "BT-112": "389.89",
        "BT-115": "389.89",
        "BG-25": [
            {
                **sold,
                "BT-126": "1",
                "BG-27": [percent],
                "BT-131": "162.03",
                "BT-151": "S",
                "BT-152": "19",
            },
            {
                **sold,
                "BT-126": "2",
                "BG-27": [amount],
                "BT-131": "184.18",
                "BT-151": "S",
                "BT-152": "7",
            },
        ],
    }
