"""Previews, creates and updates drafts."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from invoicing.errors import ConflictCause, ConflictError, DraftCodeUsedError
from invoicing.locks import hold_customer, joined_transaction, lock_document
from invoicing.models import Customer, Document, DocumentStatus, DocumentType, Parts, User
from invoicing.services.document_parts import insert_document, insert_parts
from invoicing.services.draft_input import DraftInput, Maker
from invoicing.services.draft_resolution import resolve_draft
from invoicing.services.draft_rows import header_of, make_parts
from invoicing.services.search_words import replace_rows, rows_of_document


def preview_draft(user: User, draft: DraftInput) -> Document:
    """Return the document that create_draft would save, with its parts, but save nothing.

    Raises DraftInvalidError.
    """
    resolved = resolve_draft(user, draft)
    document = Document(created_by=user, **header_of(resolved))
    document.parts = make_parts(document, resolved)
    return document


def create_draft(
    user: User,
    draft: DraftInput,
    *,
    maker: Maker | None = None,
    document_type: DocumentType = DocumentType.INVOICE,
    draft_code: str | None = None,
) -> Document:
    """Save a draft and return it with its lines and tax rows; raises DraftInvalidError.

    Raises DraftCodeUsedError if a document with the given draft code exists, so that a form sent
    twice makes one draft.
    """
    with joined_transaction():
        resolved = resolve_draft(user, draft, for_writing=True)
        document = Document(type=document_type, created_by=user, **header_of(resolved))
        if maker is not None:
            document.connection_id = maker.connection_id
            document.connection_name = maker.connection_name
        parts = make_parts(document, resolved)
        if draft_code is None:
            insert_document(document, parts)
        else:
            document.draft_code = draft_code
            _insert_once(document, parts)
    return document


def _insert_once(document: Document, parts: Parts) -> None:
    try:
        with transaction.atomic():
            insert_document(document, parts)
    except IntegrityError:
        if Document.objects.filter(draft_code=document.draft_code).exists():
            raise DraftCodeUsedError from None
        raise


def update_draft(user: User, pk: UUID, draft: DraftInput, *, lock_version: int) -> Document:
    """Replace the whole draft and return it with its lines and tax rows.

    Checks in this order: raises RecordNotFoundError, then DraftInvalidError, then ConflictError if
    the document is not a draft invoice at this lock version.
    """
    with joined_transaction():
        document = lock_document(pk, visible_to=user)
        resolved = resolve_draft(user, draft, for_writing=True)
        header = header_of(resolved) | {
            "lock_version": lock_version + 1,
            "updated_at": timezone.now(),
        }
        changed = Document.objects.filter(
            pk=pk,
            type=DocumentType.INVOICE,
            status=DocumentStatus.DRAFT,
            lock_version=lock_version,
        ).update(**header)
        if not changed:
            raise name_conflict(document)
        document.customer = _hold_former_customer(user, document, resolved.customer)
        found_by = rows_of_document(document)
        for name, value in header.items():
            setattr(document, name, value)
        replace_rows(found_by, rows_of_document(document))
        document.lines.all().delete()
        document.tax_rows.all().delete()
        insert_parts(document, make_parts(document, resolved))
    return document


def name_conflict(document: Document) -> ConflictError:
    """Return why a locked document is not the draft invoice at the version that a change names."""
    if not document.is_draft_invoice:
        return ConflictError(ConflictCause.NO_DRAFT_INVOICE)
    return ConflictError(ConflictCause.OLD_VERSION)


def _hold_former_customer(user: User, document: Document, customer: Customer) -> Customer:
    """Hold the customer that the draft had, since its name decides which word rows to remove."""
    if document.customer_id == customer.id:
        return customer
    return hold_customer(document.customer_id, visible_to=user)
