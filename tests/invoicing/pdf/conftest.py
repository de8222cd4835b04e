"""PDFs that many tests read: each is made once."""

from typing import Any

import pytest
from django.db import transaction

from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.writing import write_e_invoice
from invoicing.models import Company, Document
from invoicing.pdf.making import PdfMaker
from invoicing.services.document_facts import read_document
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    line_input,
    make_draft,
    make_issued,
)

# What typst would take for markup or code, with a mark that turns the reading direction.
MARKUP = '#import "x" $x^2$ *bold* _it_ `code` <label> @ref // no \\ [a] \u202eevil'
# A text in each script, by a language that has it.
SCRIPTS = {
    "French": "Prestation d’été à 50 œufs, fin",  # noqa: RUF001  as the French write
    "Greek": "Υπηρεσίες ελέγχου",
    "Russian": "Проверка оборудования",
    "Polish": "Usługa żółć ęąśź",
    "Hindi": "परामर्शसेवा",
    "Thai": "ค่าบริการ",
    "Chinese": "咨询服务",
    "Japanese": "コンサルティング費用",
    "Korean": "컨설팅 서비스",
}
ARABIC = "شركة الأمل للتجارة"
HEBREW = "חברת הדרכה"
LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 4
SWISS_SELLER = {
    "name": "Halden Werkstätten AG",
    "street": "Limmatquai 12",
    "postcode": "8001",
    "city": "Zürich",
    "country": "CH",
    "iban": "CH9300762011623852957",
}


@pytest.fixture(scope="module")
def pdfs(django_db_setup: Any, django_db_blocker: Any) -> dict[str, bytes]:
    """PDFs by the names of their documents, with the `xml` of the first."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = _make()
        transaction.set_rollback(True)
    return made


def _make() -> dict[str, bytes]:
    CompanyFactory.create(
        email="invoices@halden.example",
        electronic_address="DE123456789",
        electronic_address_scheme="9930",
        contact_name="Dana Okonkwo-Reiß",
        phone="+49 40 123456",
        footer_text="Managing director: Olivia Owner",
    )
    buyer = {"electronic_address": "12345678", "electronic_address_scheme": "0106"}
    customer = CustomerFactory.create(name=ARABIC, street=HEBREW, **buyer)
    rate = TaxRateFactory.create(category="S")
    texts = (*SCRIPTS.values(), MARKUP, LONG_WORD)
    lines = tuple(line_input(description=text, tax_rate_id=rate.id) for text in texts)
    many = tuple(line_input(description=f"Service {number}") for number in range(1, 101))
    invoice = make_issued(customer=customer, lines=lines, notes="First.\n\nSecond.")
    xml = write_e_invoice(invoice, read_document(invoice), Kind.FACTUR_X)
    with PdfMaker() as maker:
        made = {
            "xml": xml,
            "invoice": maker.make(invoice, xml),
            "hundred": maker.make(make_issued(customer=customer, lines=many)),
            "draft": maker.make(make_draft(customer=customer, language="de", lines=many[:60])),
        }
        Company.objects.update(**SWISS_SELLER)
        made["swiss"] = maker.make(make_swiss())
    return made


def make_swiss() -> Document:
    address = {"street": "Kramgasse 4", "postcode": "3011", "city": "Bern", "country": "CH"}
    customer = CustomerFactory.create(name="Müller AG", **address)
    return make_issued(customer=customer, currency_code="CHF", language="de")
