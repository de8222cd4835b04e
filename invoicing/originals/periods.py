"""The originals of many documents, in constant memory; a run may be broken off and begun again."""

from collections.abc import Generator, Iterable, Iterator
from datetime import date
from typing import NamedTuple

from django.db.models import Prefetch
from tqdm import tqdm

from invoicing.e_invoices.writing import FactsMissingError
from invoicing.models import Document, DocumentStatus, Original, OriginalKind
from invoicing.originals.keeping import original_of
from invoicing.originals.names import file_name_of
from invoicing.pdf.making import PdfError, PdfMaker
from invoicing.services.search_words import batches_by_id

_DOCUMENTS_AT_ONCE = 100
# As originals_of() takes documents: what is kept of each, of which the content is read when asked.
WITH_KEPT = Document.objects.select_related("customer").prefetch_related(
    Prefetch("originals", Original.objects.defer("content"))
)


class Found(NamedTuple):
    """A file of a document, or the sentence that says why there is none."""

    document: Document
    kind: OriginalKind
    original: Original | None
    failure: str = ""

    @property
    def file_name(self) -> str:
        return file_name_of(self.document, self.kind)

    @property
    def sentence(self) -> str:
        return f"{self.file_name}: {self.failure}"


def issued_between(first: date, last: date) -> Iterator[Document]:
    """Yield the documents that were issued on these days, the last one included, with progress."""
    period = WITH_KEPT.filter(status=DocumentStatus.ISSUED, issue_date__range=(first, last))
    with tqdm(
        total=period.count(), desc="Documents", disable=None, leave=False, delay=1
    ) as progress:
        for batch in batches_by_id(period, _DOCUMENTS_AT_ONCE):
            for document in batch:
                yield document
                progress.update()


def originals_of(documents: Iterable[Document]) -> Generator[Found]:
    """Yield the originals of issued documents, made and kept where they were not before.

    Of each document its PDF, the e-invoice that the customer wants, and what else is kept. All PDFs
    are made by one child process, which ends with the generator. Call it outside of transactions.
    """
    with PdfMaker() as maker:
        for document in documents:
            kept = {original.kind: original for original in document.originals.all()}
            for kind in OriginalKind:
                if kind in kept:
                    yield Found(document, kind, kept[kind])
                elif kind in {OriginalKind.PDF, document.customer.e_invoice}:
                    yield _make(document, kind, maker)


def _make(document: Document, kind: OriginalKind, maker: PdfMaker) -> Found:
    try:
        return Found(document, kind, original_of(document, kind, maker))
    except (FactsMissingError, PdfError) as error:
        return Found(document, kind, None, str(error))
