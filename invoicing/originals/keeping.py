"""The originals of issued documents: each file is made once, and served from there ever after."""

from hashlib import sha256

from invoicing import __version__
from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.writing import FactsMissingError, write_e_invoice
from invoicing.errors import NotIssuedError
from invoicing.models import Document, Original, OriginalKind
from invoicing.pdf.making import PdfMaker, make_pdf, versions
from invoicing.services.document_facts import read_document

PRODUCT = "agent-invoicing"


def original_of(document: Document, kind: OriginalKind, maker: PdfMaker | None = None) -> Original:
    """Return the kept file of an issued document, made and kept now if it was not before.

    Two first requests keep one, which both get. Call it outside of transactions: a PDF takes a
    process of its own, or the maker's. Raises NotIssuedError, FactsMissingError for an e-invoice
    that would not be valid, and PdfError.
    """
    if not document.is_issued:
        raise NotIssuedError
    if kept := Original.objects.filter(document=document, kind=kind).first():
        return kept
    content = _make_pdf(document, maker) if kind == OriginalKind.PDF else _write(document, kind)
    made = {
        "content": content,
        "digest": sha256(content).hexdigest(),
        "made_with": {PRODUCT: __version__} | (versions() if kind == OriginalKind.PDF else {}),
    }
    return Original.objects.get_or_create(document=document, kind=kind, defaults=made)[0]


def _make_pdf(document: Document, maker: PdfMaker | None) -> bytes:
    """Return the PDF: with the e-invoice inside where that is valid, else without."""
    try:
        xml = _write(document, Kind.FACTUR_X)
    except FactsMissingError:
        xml = None
    return maker.make(document, xml) if maker else make_pdf(document, xml)


def _write(document: Document, kind: str) -> bytes:
    return write_e_invoice(document, read_document(document), Kind(kind))
