"""The official rules do refuse: a spoilt e-invoice, and one that lacks what we call missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.etree import DocumentInvalid

from invoicing.e_invoices.cii import write_cii
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.missing import Missing, Place
from invoicing.e_invoices.reading import read_invoice
from invoicing.e_invoices.ubl import write_ubl
from invoicing.e_invoices.writing import FactsMissingError, missing_facts, write_e_invoice
from invoicing.fixed_point import format_fixed_point
from invoicing.models import DocumentType
from invoicing.totals import DiscountType
from tests.fuzzing.effort import try_hard
from tests.invoicing.e_invoices.rules import RULES, Rules, broken_rules, check_schema
from tests.invoicing.e_invoices.samples import (
    BUYER_PARTS,
    REDUCED,
    SELLER_PARTS,
    STANDARD,
    SUPPLY_OF_GOODS,
    UNTAXED,
    Rate,
    Sample,
    SampleLine,
    sample,
)

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

TOTALS = "BR-CO-15"
REFERENCE = "BR-DE-15"
SPOILT = {
    Rules.FACTUR_X: (Kind.FACTUR_X, b">220.36</ram:Grand", b">220.37</ram:Grand", TOTALS),
    Rules.CII: (Kind.XRECHNUNG, b">220.36</ram:Grand", b">220.37</ram:Grand", TOTALS),
    Rules.UBL: (Kind.PEPPOL, b">220.36</cbc:TaxInc", b">220.37</cbc:TaxInc", TOTALS),
    Rules.XRECHNUNG_CII: (Kind.XRECHNUNG, b"04011000-12345-03", b"", REFERENCE),
    Rules.XRECHNUNG_UBL: (Kind.PEPPOL, b"04011000-12345-03", b"", REFERENCE),
}


def ids_of(broken: list[str]) -> set[str]:
    return {each.split()[0] for each in broken}


@pytest.mark.parametrize("rules", Rules, ids=lambda rules: rules.name)
def test_every_file_of_rules_refuses_a_spoilt_e_invoice(rules):
    kind, right, wrong, rule = SPOILT[rules]
    xml = write_e_invoice(*sample(), kind)
    assert broken_rules(xml, rules) == []
    assert right in xml
    assert rule in ids_of(broken_rules(xml.replace(right, wrong), rules))


@pytest.mark.parametrize("kind", [Kind.FACTUR_X, Kind.PEPPOL])
def test_the_schema_refuses_an_element_in_the_wrong_place(kind):
    xml = write_e_invoice(*sample(), kind)
    with pytest.raises(DocumentInvalid, match="This element is not expected"):
        check_schema(xml.replace(b"BuyerReference>", b"TypeCode>"))


def write_anyway(made: Sample, kind: Kind) -> bytes:
    write = write_ubl if kind is Kind.PEPPOL else write_cii
    return write(read_invoice(*made, kind))


GERMAN = {"country": "DE", "vat_number": "DE987654321"}
EVERY = tuple(Kind)
XRECHNUNG = (Kind.XRECHNUNG,)
PEPPOL = (Kind.PEPPOL,)
COMPANY, CUSTOMER, DRAFT = Place.COMPANY, Place.CUSTOMER, Place.DRAFT
GOODS = SampleLine(rate=Rate("K"))
# A tax of half a yen each, and so of one.
FIVE_YEN_OF_TWO_RATES = [
    SampleLine(rate=Rate("S", "10", name), quantity="1", unit_price=5) for name in ("A", "B")
]
FIRST_RATE = "00000000-0000-0000-0000-000000000000"
# Each with the kinds of e-invoice that need it, the rule that says so, where it is mended, and how
# it is named.
MISSING = [
    (
        sample(SampleLine(unit_price=1), currency_code="BHD", minor_unit=3),
        *(EVERY, "BR-DEC-09", Place.NOWHERE),
        (
            "An e-invoice has amounts with at most 2 decimals (EN 16931), and a currency of this"
            " document has more: there is a PDF only."
        ),
    ),
    (
        sample(SampleLine(quantity="1", unit_price=10**16 + 1), SampleLine()),
        *((Kind.FACTUR_X, Kind.XRECHNUNG), "BR-CO-10", Place.NOWHERE),
        (
            "The total has more than 15 digits, which those who check e-invoices cannot add up:"
            " there is a PDF only."
        ),
    ),
    (
        sample(currency_code="STN"),
        *((Kind.XRECHNUNG, Kind.PEPPOL), "BR-CL-04", Place.NOWHERE),
        "Those who check such e-invoices do not know the currency STN.",
    ),
    (
        sample(national_currency="STN", national_minor_unit=2, national_tax_total=3251),
        *((Kind.XRECHNUNG, Kind.PEPPOL), "BR-CL-05", Place.NOWHERE),
        "Those who check such e-invoices do not know the currency STN.",
    ),
    (
        sample(*FIVE_YEN_OF_TWO_RATES, currency_code="JPY", minor_unit=0),
        *(EVERY, "BR-S-09", Place.NOWHERE),
        "A tax is rounded by more than e-invoices allow: there is a PDF only.",
    ),
    (
        sample(SampleLine(rate=Rate("S", "0.4999"))),
        *(EVERY, "BR-CO-17", Place.NOWHERE),
        (
            "Those who check e-invoices take less than half a percent of tax as none: there is a"
            " PDF only."
        ),
    ),
    (
        sample(SampleLine(rate=Rate("", name="Sales"))),
        *(EVERY, "BR-CO-04", Place.RATE),
        "The tax rate “Sales” has no category yet.",
    ),
    (
        sample(SampleLine(rate=Rate("", name=""))),
        *(EVERY, "BR-CO-04", COMPANY),
        "A line without a tax rate has no category yet.",
    ),
    (
        sample(SampleLine(rate=Rate("E", name="School", reason=""))),
        *(EVERY, "BR-E-10", Place.RATE),
        "The tax rate “School” is exempt, and nothing says why.",
    ),
    (
        sample(SampleLine(rate=Rate("E", name="", reason=""))),
        *(EVERY, "BR-E-10", COMPANY),
        "A line without a tax rate is exempt, and nothing says why.",
    ),
    (
        sample(SampleLine(), SampleLine(rate=Rate("O", name=""))),
        *(EVERY, "BR-O-11", DRAFT),
        (
            "What is outside the scope of VAT needs an invoice of its own: on this one there are"
            " lines of another category."
        ),
    ),
    (
        sample(seller={"country": None}),
        *(EVERY, "BR-09", COMPANY),
        "The country of your company is missing.",
    ),
    (
        sample(buyer={"country": None}),
        *(EVERY, "BR-11", CUSTOMER),
        "The country of the customer is missing.",
    ),
    (
        sample(SampleLine(rate=Rate("O")), seller={"registration": None, "tax_number": None}),
        *(EVERY, "BR-CO-26", COMPANY),
        (
            "Your company needs a registration or a tax number: where nothing is in the scope of"
            " VAT, its VAT number must not be named."
        ),
    ),
    (
        sample(seller={"vat_number": "", "tax_number": None}),
        *(EVERY, "BR-S-02", COMPANY),
        "The VAT number or the tax number of your company is missing.",
    ),
    (
        sample(SampleLine(rate=Rate("G")), seller={"vat_number": ""}),
        *(EVERY, "BR-G-02", COMPANY),
        "The VAT number of your company is missing.",
    ),
    (
        sample(SampleLine(rate=Rate("AE")), buyer={"vat_number": ""}),
        *(EVERY, "BR-AE-02", CUSTOMER),
        "The VAT number of the customer is missing.",
    ),
    (
        sample(seller={"vat_number": "123456789"}),
        *(EVERY, "BR-CO-09", COMPANY),
        "The VAT number of your company must begin with the two capital letters of its country.",
    ),
    (
        sample(buyer={"vat_number": "nl001234567B01"}),
        *(EVERY, "BR-CO-09", CUSTOMER),
        "The VAT number of the customer must begin with the two capital letters of its country.",
    ),
    (
        sample(buyer={"vat_number": "XK810123456"}),
        *(EVERY, "BR-CO-09", CUSTOMER),
        "The VAT number of the customer must begin with the two capital letters of its country.",
    ),
    (
        sample(seller={"vat_number": "SS123456789"}),
        *((Kind.FACTUR_X, Kind.XRECHNUNG), "BR-CO-09", COMPANY),
        "The VAT number of your company must begin with the two capital letters of its country.",
    ),
    (
        sample(GOODS, delivery_country="NL"),
        *(EVERY, "BR-IC-11", DRAFT),
        "The date of supply is missing: goods go to another country.",
    ),
    (
        sample(GOODS, supply_date="2026-02-27"),
        *((Kind.FACTUR_X, Kind.PEPPOL), "BR-IC-12", DRAFT),
        "The country of delivery is missing: goods go to another country.",
    ),
    (
        sample(GOODS, **SUPPLY_OF_GOODS | {"delivery_country": "BE"}),
        *(XRECHNUNG, "BR-IC-12", DRAFT),
        (
            "The country of delivery is missing, or is not that of the customer's address: by"
            " German rules an e-invoice names the whole address of delivery."
        ),
    ),
    (
        sample(GOODS, buyer=GERMAN, **SUPPLY_OF_GOODS | {"delivery_country": "BE"}),
        *((Kind.XRECHNUNG, Kind.PEPPOL), "BR-IC-12", DRAFT),
        (
            "The country of delivery is missing, or is not that of the customer's address: by"
            " German rules an e-invoice names the whole address of delivery."
        ),
    ),
    (
        sample(buyer_reference=None),
        *(XRECHNUNG, "BR-DE-15", CUSTOMER),
        (
            "The buyer reference is missing: for an authority its Leitweg-ID, for others any text"
            " that the customer gave. The draft may have one of its own."
        ),
    ),
    (
        sample(seller={"city": None}),
        *(XRECHNUNG, "BR-DE-3", COMPANY),
        "The city of your company is missing.",
    ),
    (
        sample(buyer={"postcode": None}),
        *(XRECHNUNG, "BR-DE-9", CUSTOMER),
        "The postcode of the customer is missing.",
    ),
    (
        sample(seller={"contact_name": None}),
        *(XRECHNUNG, "BR-DE-5", COMPANY),
        "The contact person of your company is missing.",
    ),
    (
        sample(seller={"phone": None}),
        *(XRECHNUNG, "BR-DE-6", COMPANY),
        "The phone number of your company is missing.",
    ),
    (
        sample(seller={"email": None}),
        *(XRECHNUNG, "BR-DE-7", COMPANY),
        "The e-mail address of your company is missing.",
    ),
    (
        sample(buyer={"email": None, "electronic_address": None}),
        *(XRECHNUNG, "PEPPOL-EN16931-R010", CUSTOMER),
        "The customer needs an electronic address or an e-mail address.",
    ),
    (
        sample(seller={"iban": ""}),
        *(XRECHNUNG, "BR-DE-1", COMPANY),
        "The IBAN of your company is missing.",
    ),
    # Nothing here breaks these: rules of Peppol alone are in no package.
    (
        sample(buyer_reference=None, reference=""),
        *(PEPPOL, "", DRAFT),
        "A reference of the customer or a buyer reference is missing.",
    ),
    (
        sample(seller={"electronic_address": None, "electronic_address_scheme": None}),
        *(PEPPOL, "", COMPANY),
        "The electronic address of your company is missing: an address in the Peppol network.",
    ),
    (
        sample(buyer={"electronic_address_scheme": "EM", "electronic_address": "a@acme.example"}),
        *(PEPPOL, "", CUSTOMER),
        "The electronic address of the customer is missing: an address in the Peppol network.",
    ),
    (
        sample(seller={"electronic_address_scheme": "0088", "electronic_address": "4000001000006"}),
        *(PEPPOL, "", COMPANY),
        "The electronic address of your company has a mistake in its digits.",
    ),
    (
        sample(buyer={"electronic_address_scheme": "0208", "electronic_address": "0403019262"}),
        *(PEPPOL, "", CUSTOMER),
        "The electronic address of the customer has a mistake in its digits.",
    ),
    (
        sample(
            SampleLine(quantity="1"), SampleLine(unit_price=1001), currency_code="JPY", minor_unit=0
        ),
        *(PEPPOL, "", Place.NOWHERE),
        "Line 2 is rounded by more than 0.02 JPY, which Peppol does not accept.",
    ),
    (
        sample(buyer={"country": "DE"}, seller={"contact_name": None}),
        *(PEPPOL, "", COMPANY),
        "The contact person of your company is missing.",
    ),
]


@pytest.mark.parametrize(("made", "kinds", "rule", "place", "text"), MISSING)
def test_what_is_missing_is_named_and_without_it_a_rule_is_broken(made, kinds, rule, place, text):
    named = Missing(place, text, FIRST_RATE if place is Place.RATE else "")
    for kind in kinds:
        assert missing_facts(made.document, made.facts, kind) == [named]
        with pytest.raises(FactsMissingError) as refused:
            write_e_invoice(made.document, made.facts, kind)
        assert refused.value.missing == [named]
        if rule:
            assert rule in ids_of(broken_rules(write_anyway(made, kind), *RULES[kind]))


def test_what_was_issued_before_parts_were_kept_lacks_the_countries():
    document, facts = sample()
    document.seller_parts = document.buyer_parts = None
    assert [each.text for each in missing_facts(document, facts, Kind.FACTUR_X)] == [
        "The country of your company is missing.",
        "The country of the customer is missing.",
    ]


RATES = [
    *(STANDARD, REDUCED, UNTAXED, Rate("S", "8.875"), Rate("", "19", "Unknown")),
    *(Rate("S", "19", "VAT of others"), Rate("S", "0.4"), Rate("S", "0.5")),
    *(Rate(category, name=category) for category in ("Z", "E", "AE", "K", "G", "O")),
]
CURRENCIES = [("EUR", 2), ("USD", 2), ("JPY", 0), ("BHD", 3)]
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1).map(str.strip)
DISCOUNTS = st.sampled_from([(None, None), (DiscountType.AMOUNT, 1)]) | st.tuples(
    st.just(DiscountType.PERCENT), st.integers(0, 10_000)
)


@st.composite
def lines(draw) -> SampleLine:
    discount_type, discount_value = draw(DISCOUNTS)
    return SampleLine(
        rate=draw(st.sampled_from(RATES)),
        quantity=format_fixed_point(draw(st.integers(10_000, 10**9))),
        unit_price=draw(st.integers(1, 10**9)),
        discount_type=discount_type,
        discount_value=discount_value,
        unit=draw(st.sampled_from(["", "h", "Stk.", "unheard of"])),
        description=draw(TEXTS) or "Nothing to be seen",
    )


def some_of(parts: dict[str, str], *more: str) -> st.SearchStrategy[dict[str, str | None]]:
    """Return how parts may change: in half of the cases not at all, else some are left out."""
    names = st.sets(st.sampled_from([*parts, *more]), max_size=3)
    return st.just({}) | names.map(lambda missing: dict.fromkeys(missing, None))


@st.composite
def samples(draw) -> Sample:
    currency_code, minor_unit = draw(st.sampled_from(CURRENCIES))
    seller, buyer = draw(some_of(SELLER_PARTS)), draw(some_of(BUYER_PARTS))
    return sample(
        *draw(st.lists(lines(), min_size=1, max_size=5)),
        document_type=draw(st.sampled_from(DocumentType)),
        seller=seller | draw(st.sampled_from([{}, {"vat_number": ""}])),
        buyer=buyer | draw(st.sampled_from([{}, {"vat_number": ""}, GERMAN])),
        currency_code=currency_code,
        minor_unit=minor_unit,
        notes=draw(TEXTS),
        buyer_reference=draw(st.sampled_from(["04011000-12345-03", None])),
        **draw(st.sampled_from([{}, SUPPLY_OF_GOODS, {"supply_date": "2026-02-27"}])),
    )


@try_hard(25)
@given(samples(), st.sampled_from(Kind))
def test_a_document_is_valid_or_what_it_lacks_is_named(made, kind):
    broken = broken_rules(write_anyway(made, kind), *RULES[kind])
    missing = missing_facts(made.document, made.facts, kind)
    if not missing:
        assert broken == []
        check_schema(write_e_invoice(made.document, made.facts, kind))
    # The rules that are Peppol's alone are in no package.
    elif kind is not Kind.PEPPOL:
        assert broken != []
