"""Writes many documents at once, for load tests, with the same totals and numbers as one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from invoicing.draft_fields import DraftInput
from invoicing.identifiers import new_draft_code
from invoicing.locks import lock_customers
from invoicing.models import Company, Document, DocumentType, Line, TaxRow, User
from invoicing.services.document_facts import parties_of
from invoicing.services.draft_content import DraftContent, fill_draft
from invoicing.services.issuing import issued_columns
from invoicing.services.numbering import next_number
from invoicing.services.search_words import rows_of_document, write_rows


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
        drafts = _fill(new_documents)
        documents = [draft.document for draft in drafts]
        _renew_taken_codes(documents)
        for document, new in zip(documents, new_documents, strict=True):
            if new.issued_at is not None:
                _issue(document, new.issued_at)
        # Documents last: the triggers refuse new lines of a document that is issued already.
        Line.objects.bulk_create(line for draft in drafts for line in draft.lines)
        TaxRow.objects.bulk_create(row for draft in drafts for row in draft.tax_rows)
        Document.objects.bulk_create(documents)
        write_rows({row for document in documents for row in rows_of_document(document)})


def _fill(new_documents: Sequence[NewDocument]) -> list[DraftContent]:
    wanted = {new.draft.customer_id for new in new_documents}
    customers = lock_customers(wanted, visible_to=None)
    return [
        fill_draft(
            Document(type=new.type, created_by=new.author),
            new.draft,
            customers.get(new.draft.customer_id),
        )
        for new in new_documents
    ]


def _renew_taken_codes(documents: Sequence[Document]) -> None:
    """Replace draft codes that are taken: among a million random ones, some are."""
    codes = [document.draft_code for document in documents]
    taken = set(Document.objects.filter(draft_code__in=codes).values_list("draft_code", flat=True))
    for document in documents:
        while document.draft_code in taken:
            document.draft_code = new_draft_code()
        taken.add(document.draft_code)


def _issue(document: Document, issued_at: datetime) -> None:
    document.seller = Company.objects.get()
    columns = issued_columns(
        document,
        parties_of(document, document.seller),
        next_number(DocumentType(document.type), document.issue_date.year),
        issued_by_id=document.created_by_id,
        issued_at=issued_at,
    )
    for name, value in columns.items():
        setattr(document, name, value)
