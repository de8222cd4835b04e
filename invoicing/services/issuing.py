"""Issues documents: gives the next number and freezes what the document says."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from invoicing.errors import ConflictCause, ConflictError, FactsChangedError
from invoicing.locks import lock_draft, require_transaction
from invoicing.models import Document, DocumentStatus, DocumentType
from invoicing.services.corrections import require_left
from invoicing.services.document_facts import (
    RATE_COLUMNS,
    Facts,
    frozen_columns,
    frozen_tax_rows,
    read_facts,
)
from invoicing.services.issued_totals import KEPT_EVERY, keep_totals
from invoicing.services.numbering import AssignedNumber, next_number
from invoicing.services.search_words import replace_rows, rows_of_document
from invoicing.totals import calculate_totals

# Tells the time. It is read only after the locks, for which a call may have waited.
Clock = Callable[[], datetime]


def issue_document(document: Document, *, clock: Clock) -> Document:
    """Issue the draft at the document's lock version, in the name of who wrote it; return it.

    The caller has checked permissions. Raises ConflictError if the document is no draft, was
    changed since it was read, or disagrees with its customer or tax rates by now, and
    RecordNotFoundError if it is gone.
    """
    with transaction.atomic(savepoint=False):
        draft = lock_draft(document.pk, visible_to=None)
        if draft.lock_version != document.lock_version:
            raise ConflictError(ConflictCause.OLD_VERSION)
        [facts] = read_facts([draft])
        return issue_locked(draft, facts, issued_by_id=draft.created_by_id, clock=clock)


def issue_locked(draft: Document, facts: Facts, *, issued_by_id: UUID, clock: Clock) -> Document:
    """Issue, as issue_document does, a draft that this transaction read with locks.lock_draft().

    The facts are the draft's, as the caller read and perhaps compared them: they are frozen. The
    series is locked last, and the clock read after it, so that later numbers have later times. A
    change of the company or of a rate locks the format of numbers, too: if one came first, raises
    FactsChangedError, so that no later number has what an earlier one has no more.
    """
    require_transaction()
    if draft.is_issued:
        raise ConflictError(ConflictCause.NO_DRAFT_INVOICE)
    require_issuable(draft)
    found_by = rows_of_document(draft)
    for row in frozen_tax_rows(draft, facts):
        row.save(update_fields=RATE_COLUMNS)
    number = next_number(DocumentType(draft.type), draft.issue_date.year)
    if read_facts([draft]) != [facts]:
        raise FactsChangedError
    frozen = issued_columns(draft, facts, number, issued_by_id=issued_by_id, issued_at=clock())
    unchanged = Document.objects.filter(
        pk=draft.pk, status=DocumentStatus.DRAFT, lock_version=draft.lock_version
    )
    if not unchanged.update(**frozen):
        raise ConflictError
    for name, value in frozen.items():
        setattr(draft, name, value)
    replace_rows(found_by, rows_of_document(draft))
    if number.series_value % KEPT_EVERY == 0:
        keep_totals(DocumentType(draft.type))
    return draft


def issued_columns(
    draft: Document,
    facts: Facts,
    number: AssignedNumber,
    *,
    issued_by_id: UUID,
    issued_at: datetime,
) -> dict[str, Any]:
    """Return the values of the columns that issuing sets, by name."""
    return {
        **frozen_columns(draft, facts),
        **number._asdict(),
        "issued_at": issued_at,
        "issued_by_id": issued_by_id,
        "updated_at": issued_at,
        "lock_version": draft.lock_version + 1,
        "status": DocumentStatus.ISSUED,
    }


def require_issuable(draft: Document) -> None:
    """Raise ConflictError if the draft cannot be issued as it is stored.

    Its customer or a rate is inactive, or its taxes and totals are not those of its rates now. A
    correction repeats what was invoiced, and only has to be what is left of that. The draft's facts
    have been read, and its rates with them.
    """
    if draft.corrects_id:
        require_left(draft)
        return
    lines = draft.lines.all()
    rates_active = all(line.tax_rate.is_active for line in lines if line.tax_rate)
    if not draft.customer.is_active or not rates_active:
        raise ConflictError(ConflictCause.INACTIVE_REFERENCE)
    totals = calculate_totals([line.amounts for line in lines])
    computed = [(row.rate, row.taxable_amount, row.tax_amount) for row in totals.tax_breakdown]
    kept = [(row.facts, row.taxable_amount, row.tax_amount) for row in draft.tax_rows.all()]
    if computed != kept or totals.grand_total != draft.grand_total:
        raise ConflictError(ConflictCause.OTHER_TOTALS)
