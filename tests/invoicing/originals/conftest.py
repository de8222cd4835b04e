"""A company and a customer whose documents are valid e-invoices, and a quick maker of PDFs."""

from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import override

from invoicing.models import Company, Customer, Document
from invoicing.originals import keeping, periods
from invoicing.pdf.making import PdfError, PdfMaker
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    line_input,
    make_issued,
)

FAILURE = "The PDF could not be made: it took too long or too much memory."


@pytest.fixture
def company(db: None) -> Company:
    return CompanyFactory.create(
        email="invoices@halden.example",
        electronic_address="DE123456789",
        electronic_address_scheme="9930",
        contact_name="Dana Okonkwo-Reiß",
        phone="+49 40 123456",
    )


@pytest.fixture
def customer(db: None) -> Customer:
    return CustomerFactory.create(
        name="Behörde",
        customer_number="7",
        electronic_address="12345678",
        electronic_address_scheme="0106",
        buyer_reference="04011000-12345-03",
    )


@pytest.fixture
def issue(company: Company, customer: Customer) -> Callable[..., Document]:
    """Return a function that issues an invoice, or a document with other fields."""
    standard = TaxRateFactory.create(category="S")

    def issue_one(**fields: Any) -> Document:
        line = line_input(tax_rate_id=standard.id)
        return make_issued(**{"customer": customer, "lines": (line,), **fields})

    return issue_one


class Maker(PdfMaker):
    """Makes a PDF of the number and the e-invoice; fails for the numbers that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []
        self.failing: dict[str, BaseException] = {}

    @override
    def __exit__(self, *raised: object) -> None:
        self.made.append("closed")

    @override
    def make(self, document: Document, xml: bytes | None = None) -> bytes:
        number = str(document.number)
        self.made.append(number)
        if error := self.failing.get(number):
            raise error
        return b"%PDF " + number.encode() + (xml or b"")

    def fail(self, number: str) -> None:
        self.failing[number] = PdfError(FAILURE)


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Maker:
    """In place of the child process."""
    made = Maker()
    monkeypatch.setattr(periods, "PdfMaker", lambda: made)
    monkeypatch.setattr(keeping, "make_pdf", made.make)
    return made
