"""The originals of all documents of a period, in constant memory; a run can be broken off."""

from collections.abc import Iterator
from datetime import date

from django.db.models import Prefetch, QuerySet
from tqdm import tqdm

from invoicing.e_invoices.writing import FactsMissingError
from invoicing.models import Document, DocumentStatus, Original, OriginalKind
from invoicing.originals.keeping import original_of
from invoicing.originals.names import file_name_of
from invoicing.pdf.making import PdfError, PdfMaker
from invoicing.services.search_words import batches_by_id

_DOCUMENTS_AT_ONCE = 100


def issued_between(first: date, last: date) -> QuerySet[Document]:
    """Return the documents that were issued on these days, the last one included."""
    return Document.objects.filter(status=DocumentStatus.ISSUED, issue_date__range=(first, last))


def originals_of(documents: QuerySet[Document], failures: list[str]) -> Iterator[Original]:
    """Yield the originals of issued documents, made and kept where they were not before.

    Of each document its PDF, the e-invoice that the customer wants, and what else is kept. Those
    that were kept before come without their content. For each that cannot be made, a sentence is
    added to `failures`. Call it outside of transactions.
    """
    kept = Prefetch("originals", Original.objects.defer("content"))
    whole = documents.select_related("customer").prefetch_related(kept)
    with (
        PdfMaker() as maker,
        tqdm(
            total=documents.count(), desc="Documents", disable=None, leave=False, delay=1
        ) as progress,
    ):
        for batch in batches_by_id(whole, _DOCUMENTS_AT_ONCE):
            for document in batch:
                yield from _originals_of(document, maker, failures)
                progress.update()


def _originals_of(document: Document, maker: PdfMaker, failures: list[str]) -> Iterator[Original]:
    kept = {original.kind: original for original in document.originals.all()}
    for kind in OriginalKind:
        if kind in kept:
            yield kept[kind]
        elif kind in {OriginalKind.PDF, document.customer.e_invoice}:
            try:
                made = original_of(document, kind, maker)
            except (FactsMissingError, PdfError) as error:
                failures.append(f"{file_name_of(document, kind)}: {error}")
            else:
                yield made
