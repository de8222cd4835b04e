"""What the PDF of an invoice costs, with its XML: the child process included."""

import os
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from benchmarks.machine import describe_machine, resident_mebibytes
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.writing import write_e_invoice
from invoicing.models import Document, TaxRate
from invoicing.paper.layout import paper_of_document
from invoicing.pdf.making import PdfMaker
from invoicing.services.document_facts import read_document
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    line_input,
    make_issued,
)

ROUNDS = 20
# Lines, and the most milliseconds of processor time for a document of so many.
GOALS = {10: 150, 100: 250}
MOST_MEBIBYTES = 10
ELECTRONIC_ADDRESS = {"electronic_address": "12345678", "electronic_address_scheme": "0106"}


def measure() -> Iterator[str]:
    """Yield the lines of a table in Markdown, one length of documents a line."""
    CompanyFactory.create(**ELECTRONIC_ADDRESS)
    rate = TaxRateFactory.create(category="S")
    documents = {lines: make_document(lines, rate) for lines in GOALS}
    for document in documents.values():
        paper_of_document(document)  # as its page has shown it before
    before = resident_mebibytes(os.getpid())
    yield ", ".join(describe_machine().values())
    yield ""
    yield "| lines | bytes | CPU in ms, one alone | each of many | goal | met |"
    yield "|---|---|---|---|---|---|"
    for lines, document in documents.items():
        alone, size = min(make(document, 1) for _ in range(ROUNDS))
        each, _ = make(document, ROUNDS)
        met = "yes" if alone <= GOALS[lines] else "**no**"
        yield f"| {lines} | {size:,} | {alone:.0f} | {each:.0f} | {GOALS[lines]} | {met} |"
    grown = resident_mebibytes(os.getpid()) - before
    yield ""
    yield f"The asking process has grown by {grown:.1f} MiB; the goal is {MOST_MEBIBYTES}."


def make_document(lines: int, rate: TaxRate) -> Document:
    texts = (f"Consulting and travel, part {number}" for number in range(lines))
    asked = tuple(line_input(description=text, unit="h", tax_rate_id=rate.id) for text in texts)
    return make_issued(customer=CustomerFactory.create(**ELECTRONIC_ADDRESS), lines=asked)


def make(document: Document, times: int) -> tuple[float, int]:
    """Return the milliseconds of processor time that a PDF takes, and its size in bytes."""
    before = spent()
    with PdfMaker() as maker:
        for _ in range(times):
            fresh = Document.objects.get(pk=document.pk)
            xml = write_e_invoice(fresh, read_document(fresh), Kind.FACTUR_X)
            pdf = maker.make(fresh, xml)
    return (spent() - before) / times * 1000, len(pdf)


def spent() -> float:
    """Return the seconds of processor time of this process and of the children that ended."""
    return sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
