"""Rows are locked inside a transaction only, in one order: approval, document, series.

SQLite has no row locks; there the transaction itself is the lock (transaction_mode IMMEDIATE).
"""

from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from invoicing.errors import RecordNotFoundError
from invoicing.models import Document, DocumentType, IssueApproval, NumberSeries


def require_transaction() -> None:
    """Raise RuntimeError outside a transaction, where a lock would end before its work."""
    if not connection.in_atomic_block:
        raise RuntimeError("a row is locked inside a transaction or not at all")


def lock_approval(approvals: QuerySet[IssueApproval], pk: UUID) -> IssueApproval:
    """Return the approval, locked; raises RecordNotFoundError where the queryset lacks it."""
    require_transaction()
    approval = approvals.select_for_update(of=("self",), no_key=True).filter(pk=pk).first()
    if approval is None:
        raise RecordNotFoundError
    return approval


def lock_document(documents: QuerySet[Document], pk: UUID) -> Document:
    """Return the document, locked; raises RecordNotFoundError where the queryset lacks it."""
    require_transaction()
    document = documents.select_for_update(of=("self",), no_key=True).filter(pk=pk).first()
    if document is None:
        raise RecordNotFoundError
    return document


def lock_number_series(document_type: DocumentType, year: int) -> NumberSeries:
    """Return the series, locked, and begin it if it is the year's first number."""
    require_transaction()
    locked = NumberSeries.objects.select_for_update(no_key=True)
    series = locked.filter(type=document_type, year=year).first()
    if series is None:
        # Two beginners at once: the second insert waits for the first, then does nothing.
        begun = NumberSeries(type=document_type, year=year)
        NumberSeries.objects.bulk_create([begun], ignore_conflicts=True)
        series = locked.get(type=document_type, year=year)
    return series
