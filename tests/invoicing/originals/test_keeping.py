"""An original is made once, and is the same ever after."""

from hashlib import sha256
from threading import Barrier
from unittest.mock import Mock

import pytest
from typing_extensions import override

from invoicing import __version__
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.writing import FactsMissingError, write_e_invoice
from invoicing.errors import NotIssuedError
from invoicing.models import Document, Original, OriginalKind
from invoicing.originals import keeping
from invoicing.originals.keeping import original_of
from invoicing.pdf.making import PdfError, PdfMaker, versions
from invoicing.services.document_facts import read_document
from tests.factories import make_draft
from tests.snapshots import take_snapshot
from tests.threads import PATIENCE_SECONDS, run_together

pytestmark = pytest.mark.django_db


def xml_of(document: Document, kind: Kind) -> bytes:
    return write_e_invoice(document, read_document(document), kind)


def test_what_was_made_once_is_served_though_its_makers_changed_since(issue, maker, monkeypatch):
    document = issue()
    first = original_of(document, OriginalKind.PDF)
    assert bytes(first.content) == b"%PDF INV-2026-0001" + xml_of(document, Kind.FACTUR_X)
    assert first.digest == sha256(first.content).hexdigest()
    assert first.made_with == {"agent-invoicing": __version__} | versions()
    monkeypatch.setattr(keeping, "versions", lambda: {"typst": "9"})
    monkeypatch.setattr(keeping, "make_pdf", Mock(return_value=b"another"))
    again = original_of(Document.objects.get(), OriginalKind.PDF)
    assert (again.pk, bytes(again.content)) == (first.pk, bytes(first.content))


def test_the_real_maker_is_asked_where_nobody_brings_another(issue):
    original = original_of(issue(), OriginalKind.PDF)
    assert bytes(original.content)[:5] == b"%PDF-"
    assert Original.objects.get().digest == sha256(original.content).hexdigest()


@pytest.mark.parametrize(
    ("kind", "standard"),
    [(OriginalKind.XRECHNUNG, Kind.XRECHNUNG), (OriginalKind.PEPPOL, Kind.PEPPOL)],
)
def test_an_e_invoice_alone_is_its_xml(issue, kind, standard):
    document = issue()
    original = original_of(document, kind)
    assert bytes(original.content) == xml_of(document, standard)
    assert original.made_with == {"agent-invoicing": __version__}


def test_what_would_be_no_valid_e_invoice_is_a_plain_pdf_and_else_refused(issue, maker):
    document = issue(lines=())  # a line without a tax rate, which says nothing of taxes
    with pytest.raises(FactsMissingError):
        original_of(document, OriginalKind.XRECHNUNG)
    assert bytes(original_of(document, OriginalKind.PDF).content) == b"%PDF INV-2026-0001"
    assert Original.objects.count() == 1


def test_a_draft_has_no_original(company, maker):
    draft = make_draft()
    before = take_snapshot()
    with pytest.raises(NotIssuedError):
        original_of(draft, OriginalKind.PDF)
    assert take_snapshot() == before


def test_a_maker_that_fails_leaves_everything_as_it_was(issue, maker):
    document = issue()
    maker.fail("INV-2026-0001")
    before = take_snapshot()
    with pytest.raises(PdfError):
        original_of(document, OriginalKind.PDF)
    assert take_snapshot() == before


class MeetingMaker(PdfMaker):
    """Makes another PDF each time, once both requests have found none kept."""

    def __init__(self) -> None:
        super().__init__()
        self.both = Barrier(2)

    @override
    def make(self, document: Document, xml: bytes | None = None) -> bytes:
        return str(self.both.wait(PATIENCE_SECONDS)).encode()


@pytest.mark.django_db(transaction=True)
def test_two_first_requests_keep_one_and_both_get_it(issue):
    pk, maker = issue().pk, MeetingMaker()

    def ask() -> bytes:
        document = Document.objects.get(pk=pk)
        return bytes(original_of(document, OriginalKind.PDF, maker).content)

    assert run_together([ask, ask]) == [bytes(Original.objects.get().content)] * 2
