"""What the law wants on a paper, beside what every document says, and the code that pays it."""

import re
from datetime import date
from itertools import chain, repeat
from typing import Any

import pytest
import zxingcpp

from invoicing.access import Permission
from invoicing.models import Company, Customer, Document, DocumentType, Logo, TaxCategory
from invoicing.services import issuing
from invoicing.services.document_facts import frozen_columns
from invoicing.services.issuing import issue_document
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    line_input,
    make_correction,
    make_draft,
    make_staff,
)
from tests.web.forms import text_of
from tests.web.reviews import read

# The page is made of facts, which are the same on both.
pytestmark = pytest.mark.sqlite

SELLER = {
    "tax_number": "48/123/45678",
    "registration": "HRB 12345, Amtsgericht Hamburg",
    "contact_name": "Dana Okonkwo-Reiß",
    "phone": "+49 40 5550100",
    "email": "rechnung@halden.example",
    "footer_text": "Geschäftsführerin: Olivia Halden",
}
SWISS_SELLER = {
    "name": "Halden Werkstätten AG",
    "street": "Limmatquai 12",
    "postcode": "8001",
    "city": "Zürich",
    "country": "CH",
    "iban": "CH9300762011623852957",
}
NO_REFERENCE_FITS = "CH4431999123000889012"


@pytest.fixture
def reader(company, sign_in):
    return sign_in(make_staff(Permission.VIEW_DOCUMENT))


def issue(customer: Customer | None = None, /, *, people: Any = None, **draft: Any) -> Document:
    """Issue a document of which people wrote columns beside the draft."""
    made = make_draft(customer=customer, **draft)
    Document.objects.filter(pk=made.pk).update(**people or {})
    return issue_document(Document.objects.get(pk=made.pk), clock=at(ISSUED_AT))


def paper_of(reader: Any, document: Document) -> str:
    """Return the text of the paper, and of what is printed below it."""
    text = read(reader.get(f"/documents/{document.pk}"), since="<article")
    return text.split(" History ")[0]


def scan(page: str) -> str:
    """Return what a phone reads from the code on a page."""
    [(size, path)] = re.findall(r'viewBox="0 0 (\d+) \1">.*?stroke="#000" d="(M[^"]+)"', page)
    border, pixels = 4, 4
    width = int(size) + 2 * border
    dark, x, y = set(), 0, 0
    for move, *steps in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", path):
        right, down = int(float(steps[0])), int(float(steps[1] or 0))
        if move == "h":
            dark |= {(x + step, y) for step in range(right)}
        x, y = (right, down) if move == "M" else (x + right, y + down)
    rows = [
        [0 if (x - border, y - border) in dark else 255 for x in range(width)] for y in range(width)
    ]
    large = [bytes(chain.from_iterable(repeat(each, pixels) for each in row)) for row in rows]
    image = memoryview(b"".join(row * pixels for row in large))
    [code] = zxingcpp.read_barcodes(image.cast("B", (width * pixels, width * pixels)))
    return code.text


def test_an_invoice_says_who_is_liable_when_it_was_supplied_and_why_no_tax_is_charged(reader):
    Company.objects.update(
        **SELLER,
        untaxed_category=TaxCategory.OUTSIDE_SCOPE,
        untaxed_reasons={"de": "Nicht im Inland steuerbar"},
    )
    customer = CustomerFactory.create(
        name="Gemeente", customer_number="K-7", buyer_reference="04011000-1234512345-06"
    )
    reverse = {
        "category": TaxCategory.REVERSE_CHARGE,
        "percentage_ten_thousandths": 0,
        "reasons": {"de": "Steuerschuldnerschaft des Leistungsempfängers"},
    }
    rates = [
        TaxRateFactory.create(name="Services", names={"de": "Leistungen"}, **reverse),
        TaxRateFactory.create(name="Other services", **reverse),
    ]
    lines = (*(line_input(tax_rate_id=rate.id) for rate in rates), line_input(unit_price=700))
    people = {
        "supply_date": date(2026, 2, 1),
        "supply_end_date": date(2026, 2, 28),
        "delivery_country": "NL",
    }
    invoice = issue(customer, people=people, lines=lines, language="de", reference="PO 7")

    assert paper_of(reader, invoice) == (
        "Rechnung INV-2026-0001"
        " Rechnungsdatum 2. März 2026 Leistungszeitraum 01.02.2026 – 28.02.2026"  # noqa: RUF001  as printed
        " Fällig am 1. April 2026 Bestimmungsland Niederlande Referenz PO 7 Währung EUR"
        " Von Halden Works Harbour Street 1 20457 Hamburg Deutschland USt-IdNr. DE136695976"
        " Steuernummer 48/123/45678 Register HRB 12345, Amtsgericht Hamburg"
        " Kontakt Dana Okonkwo-Reiß Telefon +49 40 5550100 E-Mail rechnung@halden.example"
        " An Gemeente Mill Lane 7 1011 AB Amsterdam Niederlande Kundennummer K-7"
        " USt-IdNr. NL004495445B01 Leitweg-ID/Käuferreferenz 04011000-1234512345-06"
        " Positionen Beschreibung Menge Einzelpreis Steuer Betrag"
        " Consulting 2 50,00 0 % Leistungen 100,00"
        " Consulting 2 50,00 0 % Other services 100,00 Consulting 2 7,00 – 14,00"  # noqa: RUF001  as printed
        " Bankverbindung IBAN DE02 1203 0000 0000 2020 51 BIC BYLADEM1001"
        " Zum Bezahlen mit der Banking-App scannen"
        " Nettobetrag 214,00 € Leistungen 0 % auf 100,00 € 0,00 €"
        " Other services 0 % auf 100,00 € 0,00 € Nicht steuerbar auf 14,00 € 0,00 €"
        " Steuer gesamt 0,00 € Gesamtbetrag 214,00 €"
        " Steuerschuldnerschaft des Leistungsempfängers Nicht im Inland steuerbar"
        " Geschäftsführerin: Olivia Halden"
    )


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Date of supply as issue date"),
        ("de", "Leistungsdatum wie Rechnungsdatum"),
        ("fr", "Date de livraison ou de prestation à la date d’émission"),  # noqa: RUF001  as printed
        ("es", "Fecha de la operación la de emisión"),
    ],
)
def test_without_a_date_of_supply_it_is_the_issue_date_but_never_within_the_union(
    reader, customer, language, said
):
    supply = TaxRateFactory.create(
        category=TaxCategory.INTRA_COMMUNITY, percentage_ten_thousandths=0
    )
    lines = (line_input(tax_rate_id=supply.id),)
    assert said in paper_of(reader, issue(customer, language=language))
    assert said not in paper_of(reader, issue(customer, language=language, lines=lines))


def test_tax_in_another_currency_is_said_in_that_of_the_company_with_the_rate(reader, customer):
    lines = (line_input(tax_rate_id=TaxRateFactory.create().id),)
    people = {
        "exchange_rate_millionths": 1_085_400,
        "exchange_rate_base": "EUR",
        "exchange_rate_date": date(2026, 2, 27),
    }
    invoice = issue(customer, people=people, lines=lines, currency_code="USD")
    said = "Total $119.00 VAT in EUR 1 EUR = 1.0854 USD (Feb 27, 2026) €17.51"
    assert paper_of(reader, invoice).endswith(said)


def test_tax_is_not_said_in_a_currency_that_was_withdrawn_after_the_company_chose_it(
    reader, customer
):
    Company.objects.update(national_currency="BGN")
    lines = (line_input(tax_rate_id=TaxRateFactory.create().id),)
    people = {"exchange_rate_millionths": 1_666_000, "exchange_rate_base": "USD"}
    invoice = issue(customer, people=people, lines=lines, currency_code="USD")
    assert paper_of(reader, invoice).endswith("Total $119.00")


def test_a_credit_note_names_what_it_corrects_and_why_and_asks_for_no_payment(reader, customer):
    original = issue(customer, language="de")
    draft = make_correction(original, reason="Zu viel berechnet")
    note = issue_document(draft, clock=at(ISSUED_AT))
    paper = paper_of(reader, note)
    assert paper.startswith(
        "Rechnungskorrektur CN-2026-0001 zu Rechnung INV-2026-0001 vom 2. März 2026"
        " Grund: Zu viel berechnet Rechnungsdatum 2. März 2026 Währung EUR"
    )
    assert not [word for word in ("Fällig", "Bankverbindung", "scannen") if word in paper]


def test_what_was_issued_before_parts_were_kept_stays_as_it_was_and_its_page_says_so(
    reader, customer, monkeypatch
):
    told = "It was issued before parts of addresses, dates of supply and tax categories were"
    assert told not in read(reader.get(f"/documents/{issue(customer).pk}"))

    def freeze(*draft: Any) -> dict[str, Any]:
        return frozen_columns(*draft) | {"seller_parts": None, "buyer_parts": None}

    monkeypatch.setattr(issuing, "frozen_columns", freeze)
    page = read(reader.get(f"/documents/{issue(customer).pk}"))
    assert told in page
    assert "Issue date March 2, 2026 Due date April 1, 2026" in page


def test_a_phone_reads_the_payment_of_an_invoice_in_euros(reader, customer):
    Company.objects.update(name="Ä" * 71)
    invoice = issue(customer, lines=(line_input(unit_price=123_456),))
    page = text_of(reader.get(f"/documents/{invoice.pk}"))
    assert 'role="img" aria-label="Scan to pay with a banking app"' in page
    assert scan(page).split("\n") == [
        *("BCD", "002", "1", "SCT", "BYLADEM1001", "Ä" * 70, "DE02120300000000202051"),
        *("EUR2469.12", "", "", "INV-2026-0001"),
    ]


@pytest.mark.parametrize("name", ["Müller’s Söhne AG", "株式会社"])  # noqa: RUF001  as printed
def test_a_phone_reads_the_payment_part_of_a_swiss_invoice(reader, name):
    """A name that a QR-bill cannot write is left to whoever pays at a counter."""
    Company.objects.update(**SWISS_SELLER)
    address = {"street": "Kramgasse 4", "postcode": "3011", "city": "Bern", "country": "CH"}
    customer = CustomerFactory.create(name=name, **address)
    invoice = issue(customer, currency_code="CHF", language="de")
    page = reader.get(f"/documents/{invoice.pk}")
    is_written = name.startswith("M")
    plain = "Müller's Söhne AG"
    debtor = ["S", plain, "Kramgasse 4", "", "3011", "Bern", "CH"]
    payer = f"Zahlbar durch {plain} Kramgasse 4 3011 Bern"
    blank = "Zahlbar durch (Name/Adresse)"

    assert scan(page.content.decode()).split("\n") == [
        *("SPC", "0200", "1", "CH9300762011623852957"),
        *("S", "Halden Werkstätten AG", "Limmatquai 12", "", "8001", "Zürich", "CH"),
        *("", "", "", "", "", "", ""),
        *("100.00", "CHF"),
        *(debtor if is_written else [""] * 7),
        *("NON", "", "INV-2026-0001", "EPD"),
    ]
    account = "Konto / Zahlbar an CH93 0076 2011 6238 5295 7 Halden Werkstätten AG"
    creditor = f"{account} Limmatquai 12 8001 Zürich"
    sums = "Währung CHF Betrag 100.00"
    payable = payer if is_written else blank
    printed = read(page).split(" History ")[0]
    assert printed.split("Vor der Einzahlung abzutrennen ")[1] == (
        f"Empfangsschein {creditor} {payable} {sums} Annahmestelle Zahlteil {sums}"
        f" {creditor} Zusätzliche Informationen INV-2026-0001 {payable}"
    )


@pytest.mark.parametrize(
    ("seller", "draft"),
    [
        ({}, {"currency_code": "USD"}),
        ({}, {"lines": (line_input(unit_price=0),)}),
        ({}, {"lines": (line_input(unit_price=50_000_000_000),)}),
        ({}, {"document_type": DocumentType.CREDIT_NOTE}),
        ({"iban": ""}, {}),
        ({"iban": "DE02120300000000202052"}, {}),
        ({"bic": "BYLADEM"}, {}),
        ({"name": "👩" * 70}, {}),
        (SWISS_SELLER, {"currency_code": "USD"}),
        (SWISS_SELLER | {"iban": NO_REFERENCE_FITS}, {}),
        (SWISS_SELLER | {"postcode": ""}, {}),
        (SWISS_SELLER | {"name": "Халден"}, {}),
    ],
)
def test_what_no_code_can_say_or_nobody_pays_has_none(reader, customer, seller, draft):
    Company.objects.update(**seller)
    page = reader.get(f"/documents/{issue(customer, **draft).pk}")
    assert page.status_code == 200
    assert b"<svg" not in page.content


def test_the_logo_that_was_frozen_is_at_the_head(reader, customer):
    logo = Logo.objects.create(digest="a" * 64, png=b"")
    Company.objects.update(logo=logo)
    invoice = issue(customer)
    Company.objects.update(logo=None)
    page = text_of(reader.get(f"/documents/{invoice.pk}"))
    assert f'<img class="logo" src="/logos/{logo.digest}" alt="Halden Works">' in page


def test_a_draft_has_no_code(reader, customer):
    page = reader.get(f"/documents/{make_draft(customer=customer).pk}")
    assert b"<svg" not in page.content
