"""Many documents at once, for load tests: the figures of the services, the rows by the thousand."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from invoicing.identifiers import new_draft_code
from invoicing.locks import DOCUMENTS, hold_customers
from invoicing.models import Document, DocumentType, TaxRate, User
from invoicing.search.table import TABLE, Row
from invoicing.services.bulk_rows import insert_records, insert_rows
from invoicing.services.company import current_company
from invoicing.services.document_parts import LINES, TAX_ROWS
from invoicing.services.draft_input import DraftInput
from invoicing.services.draft_resolution import ResolvedDraft, resolve_with
from invoicing.services.draft_rows import header_of, make_parts
from invoicing.services.issuing import frozen_facts
from invoicing.services.numbering import next_numbers
from invoicing.services.search_words import rows_of_document


@dataclass(frozen=True, kw_only=True)
class NewDocument:
    """A draft to be written, or an issued document where there is an instant of issue."""

    author: User
    draft: DraftInput
    type: DocumentType = DocumentType.INVOICE
    issued_at: datetime | None = None


def write_documents(new_documents: Sequence[NewDocument]) -> None:
    """Write new documents, and issue those of them that are to be, in this order.

    It is for whoever owns the database: nobody's permissions are asked. Raises DraftInvalidError
    for the first draft that cannot be written.
    """
    with transaction.atomic():
        resolved = _resolve([new.draft for new in new_documents])
        documents = [_draft(*pair) for pair in zip(new_documents, resolved, strict=True)]
        _renew_taken_codes(documents)
        _issue(documents, [new.issued_at for new in new_documents])
        parts = [make_parts(*pair) for pair in zip(documents, resolved, strict=True)]
        # A document comes after all that belongs to it: once issued, it takes nothing more.
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
    """Give another draft code to whoever drew one that is taken: among a million, some do."""
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
            facts = frozen_facts(document, seller, number, issued_at=issued_at)
            for name, fact in facts.items():
                setattr(document, name, fact)


def _words_of(documents: Iterable[Document]) -> list[Row]:
    # Sorted, neighbours go to one place of the index, which is half the time.
    return sorted(row for document in documents for row in rows_of_document(document))
