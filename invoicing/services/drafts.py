"""Previews, creates and updates drafts."""

from typing import NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from invoicing.draft_fields import DraftInput, PersonInput
from invoicing.errors import ConflictCause, ConflictError, DraftCodeUsedError, RecordNotFoundError
from invoicing.locks import lock_customers, lock_record
from invoicing.models import Customer, Document, DocumentStatus, DocumentType, Line, TaxRow, User
from invoicing.models.documents import DocumentQuerySet
from invoicing.services.draft_content import DraftContent, fill_draft
from invoicing.services.search_words import replace_rows, rows_of_document, write_rows


class ConnectionRef(NamedTuple):
    """The connection through which an agent acts, as documents and approvals keep it."""

    connection_id: UUID
    connection_name: str


def preview_draft(
    user: User, asked: DraftInput, by_person: PersonInput | None = None
) -> DraftContent:
    """Return what create_draft would save, but save nothing; raises DraftInvalidError."""
    customer = Customer.objects.visible_to(user).filter(pk=asked.customer_id).first()
    return fill_draft(Document(created_by=user), asked, customer, by_person)


def create_draft(
    user: User,
    asked: DraftInput,
    by_person: PersonInput | None = None,
    *,
    connection: ConnectionRef | None = None,
    document_type: DocumentType = DocumentType.INVOICE,
    draft_code: str | None = None,
) -> DraftContent:
    """Save a draft and return it; raises DraftInvalidError.

    Raises DraftCodeUsedError if a document with the given draft code exists, so that a form sent
    twice makes one draft.
    """
    document = Document(type=document_type, created_by=user)
    if connection is not None:
        document.connection_id, document.connection_name = connection
    if draft_code is not None:
        document.draft_code = draft_code
    with transaction.atomic(savepoint=False):
        customers = lock_customers([asked.customer_id], visible_to=user)
        content = fill_draft(document, asked, customers.get(asked.customer_id), by_person)
        if draft_code is None:
            document.save(force_insert=True)
        else:
            insert_once(document)
        insert_parts(content)
        write_rows(rows_of_document(document))
    return content


def insert_once(document: Document) -> None:
    """Insert it; raises DraftCodeUsedError if there is one with its draft code."""
    try:
        with transaction.atomic():
            document.save(force_insert=True)
    except IntegrityError:
        if Document.objects.filter(draft_code=document.draft_code).exists():
            raise DraftCodeUsedError from None
        raise


def insert_parts(content: DraftContent) -> None:
    """Insert lines and tax rows."""
    Line.objects.bulk_create(content.lines)
    TaxRow.objects.bulk_create(content.tax_rows)


def update_draft(
    user: User,
    pk: UUID,
    asked: DraftInput,
    by_person: PersonInput | None = None,
    *,
    lock_version: int,
) -> DraftContent:
    """Replace the whole draft and return it; an agent's update keeps what only people write.

    Checks in this order: raises RecordNotFoundError, then DraftInvalidError, then ConflictError if
    the document is not a draft invoice at this lock version.
    """
    with transaction.atomic(savepoint=False):
        document = lock_record(Document.objects.all(), pk)
        customers = lock_customers({document.customer_id, asked.customer_id}, visible_to=user)
        if document.customer_id not in customers:
            raise RecordNotFoundError
        document.customer = customers[document.customer_id]
        found_by = rows_of_document(document)
        content = fill_draft(document, asked, customers.get(asked.customer_id), by_person)
        drafts = Document.objects.filter(type=DocumentType.INVOICE)
        if not replace_content(drafts, content, lock_version):
            raise name_conflict(document)
        replace_rows(found_by, rows_of_document(document))
    return content


def save_anew(document: Document) -> None:
    """Raise the version of a locked draft, so that nothing asked of it before can be done.

    Raises ConflictError if it is no draft any more.
    """
    version, now = document.lock_version, timezone.now()
    drafts = Document.objects.filter(
        pk=document.pk, status=DocumentStatus.DRAFT, lock_version=version
    )
    if not drafts.update(lock_version=version + 1, updated_at=now):
        raise name_conflict(document)
    document.lock_version, document.updated_at = version + 1, now


def replace_content(documents: DocumentQuerySet, content: DraftContent, lock_version: int) -> bool:
    """Replace the content of a locked draft at this lock version; return whether that was one.

    It has to be among the documents.
    """
    document, header = content.document, content.header
    document.lock_version, document.updated_at = lock_version + 1, timezone.now()
    changed = documents.filter(
        pk=document.pk, status=DocumentStatus.DRAFT, lock_version=lock_version
    ).update(**header, lock_version=document.lock_version, updated_at=document.updated_at)
    if changed:
        document.lines.all().delete()
        document.tax_rows.all().delete()
        insert_parts(content)
    return bool(changed)


def name_conflict(document: Document) -> ConflictError:
    """Return why a locked document is not the draft invoice at the version that a change names."""
    if not document.is_draft_invoice:
        return ConflictError(ConflictCause.NO_DRAFT_INVOICE)
    return ConflictError(ConflictCause.OLD_VERSION)
