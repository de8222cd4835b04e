"""Writes many documents at once, for load tests, with the same totals and numbers as one by one."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from invoicing.identifiers import new_draft_code
from invoicing.locks import hold_customers
from invoicing.models import Document, DocumentType, TaxRate, User
from invoicing.rows import DOCUMENTS, LINES, TAX_ROWS
from invoicing.search.table import TABLE, Row
from invoicing.services.bulk_rows import insert_records, insert_rows
from invoicing.services.company import current_company
from invoicing.services.document_facts import parties_of
from invoicing.services.draft_input import DraftInput
from invoicing.services.draft_resolution import ResolvedDraft, resolve_with
from invoicing.services.draft_rows import header_of, make_parts
from invoicing.services.issuing import frozen_columns
from invoicing.services.numbering import next_numbers
from invoicing.services.search_words import rows_of_document


@dataclass(frozen=True, kw_only=True)
class NewDocument:
    """A document to write: issued if `issued_at` is given, else a draft."""

    author: User
    draft: DraftInput
    type: DocumentType = DocumentType.INVOICE
    issued_at: datetime | None = None


def write_documents(new_documents: Sequence[NewDocument]) -> None:
    """Write the documents; those that are issued get their numbers in this order.

    Nobody's permissions are checked. Raises DraftInvalidError for the first invalid draft.
    """
    with transaction.atomic():
        resolved = _resolve([new.draft for new in new_documents])
        documents = [_draft(*pair) for pair in zip(new_documents, resolved, strict=True)]
        _renew_taken_codes(documents)
        _issue(documents, [new.issued_at for new in new_documents])
        parts = [make_parts(*pair) for pair in zip(documents, resolved, strict=True)]
        # Documents last: the triggers refuse new lines of a document that is issued already.
        insert_records(LINES, [line for each in parts for line in each.lines])
        insert_records(TAX_ROWS, [row for each in parts for row in each.tax_rows])
        insert_rows(TABLE, Row._fields, _words_of(documents))
        insert_records(DOCUMENTS, documents)


def _resolve(drafts: Iterable[DraftInput]) -> list[ResolvedDraft]:
    drafts = list(drafts)
    held = hold_customers({draft.customer_id for draft in drafts}, visible_to=None)
    customers = {customer.id: customer for customer in held if customer.is_active}
    rates = {rate.id: rate for rate in TaxRate.objects.filter(is_active=True)}
    return [resolve_with(draft, customers.get(draft.customer_id), rates) for draft in drafts]


def _draft(new: NewDocument, resolved: ResolvedDraft) -> Document:
    return Document(type=new.type, created_by=new.author, **header_of(resolved))


def _renew_taken_codes(documents: Sequence[Document]) -> None:
    """Replace draft codes that are taken: among a million random ones, some are."""
    codes = [document.draft_code for document in documents]
    taken = set(Document.objects.filter(draft_code__in=codes).values_list("draft_code", flat=True))
    for document in documents:
        while document.draft_code in taken:
            document.draft_code = new_draft_code()
        taken.add(document.draft_code)


def _issue(documents: Sequence[Document], instants: Sequence[datetime | None]) -> None:
    issued = [(each, at) for each, at in zip(documents, instants, strict=True) if at is not None]
    by_series = defaultdict(list)
    for document, issued_at in issued:
        series = DocumentType(document.type), document.issue_date.year
        by_series[series].append((document, issued_at))
    seller = current_company()
    for (kind, year), members in sorted(by_series.items()):
        numbers = next_numbers(kind, year, count=len(members))
        for number, (document, issued_at) in zip(numbers, members, strict=True):
            parties = parties_of(document, seller)
            columns = frozen_columns(
                document,
                parties,
                number,
                issued_by_id=document.created_by_id,
                issued_at=issued_at,
            )
            for name, value in columns.items():
                setattr(document, name, value)


def _words_of(documents: Iterable[Document]) -> list[Row]:
    # Sorted, since inserting in the order of the index takes half the time.
    return sorted(row for document in documents for row in rows_of_document(document))
