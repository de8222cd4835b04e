"""The originals of issued documents as one ZIP file, with an index."""

from functools import partial
from tempfile import TemporaryFile
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZIP_STORED

from zipstream import ZipStream

from invoicing.e_invoices.writing import FactsMissingError
from invoicing.exports.cells import BYTE_ORDER_MARK, CHUNK_LENGTH, Cell, Chunks, write_row
from invoicing.exports.tables import customer_number_of
from invoicing.models import Document, Original, OriginalKind
from invoicing.originals.keeping import original_of
from invoicing.originals.names import file_name_of
from invoicing.pdf.making import PdfError, PdfMaker

INDEX = "index.csv"
INDEX_COLUMNS = (
    *("Number", "Issue date", "Customer number", "Customer", "Kind", "File", "SHA-256", "Bytes"),
    "Why it is missing",
)


def write_archive(pks: list[UUID]) -> Chunks:
    """Yield a ZIP file of the originals of these documents; the index of them is its last file.

    What was not kept before is made on the way, by one child process, which ends with the iterator.
    An original that cannot be made is in the index, with the reason.
    """
    archive = ZipStream(compress_type=ZIP_DEFLATED)
    with PdfMaker() as maker, TemporaryFile() as index:
        index.write(BYTE_ORDER_MARK.encode() + write_row(INDEX_COLUMNS))
        for pk in pks:
            document = Document.objects.select_related("customer").get(pk=pk)
            for kind in _kinds_of(document):
                made = _make(document, kind, maker)
                index.write(write_row(_row(document, kind, made)))
                if isinstance(made, Original):
                    # A PDF is compressed already.
                    method = ZIP_STORED if kind == OriginalKind.PDF else ZIP_DEFLATED
                    name = file_name_of(document, kind)
                    archive.add(bytes(made.content), name, compress_type=method)
                    yield from archive.all_files()
        index.seek(0)
        archive.add(iter(partial(index.read, CHUNK_LENGTH), b""), INDEX)
        yield from archive.finalize()


def _kinds_of(document: Document) -> list[OriginalKind]:
    """Return the PDF, and the e-invoice beside it that the customer wants."""
    wanted = document.customer.e_invoice
    beside = (
        [OriginalKind(wanted)] if wanted in {OriginalKind.XRECHNUNG, OriginalKind.PEPPOL} else []
    )
    return [OriginalKind.PDF, *beside]


def _make(document: Document, kind: OriginalKind, maker: PdfMaker) -> Original | str:
    """Return the original, or the sentence that says why there is none."""
    try:
        return original_of(document, kind, maker)
    except (FactsMissingError, PdfError) as error:
        return str(error)


def _row(document: Document, kind: OriginalKind, made: Original | str) -> tuple[Cell, ...]:
    number = customer_number_of(document)
    named = (document.number, document.issue_date, number, document.buyer_name, kind.label)
    if isinstance(made, str):
        return (*named, None, None, None, made)
    return (*named, file_name_of(document, kind), made.digest, len(made.content), None)
