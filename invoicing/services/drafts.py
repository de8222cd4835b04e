"""Drafts are previewed, made and changed here."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from invoicing.access import documents_visible_to
from invoicing.errors import ConflictError, DraftCodeUsedError
from invoicing.locks import lock_document
from invoicing.models import Document, DocumentStatus, DocumentType, Line, TaxRow, User
from invoicing.services.document_parts import insert_parts
from invoicing.services.draft_input import DraftInput, LineInput, Maker
from invoicing.services.draft_resolution import ResolvedDraft, resolve_draft
from invoicing.totals import LineTotals, Totals

__all__ = [
    "DraftInput",
    "DraftPreview",
    "LineInput",
    "Maker",
    "create_draft",
    "preview_draft",
    "update_draft",
]


@dataclass(frozen=True, kw_only=True)
class DraftPreview:
    """A document as it would be written; nothing of it is saved."""

    document: Document
    lines: tuple[Line, ...]
    tax_rows: tuple[TaxRow, ...]


def preview_draft(user: User, draft: DraftInput) -> DraftPreview:
    """Compute what create_draft would save; raises DraftInvalidError as it does."""
    resolved = resolve_draft(user, draft)
    document = Document(created_by=user, **_header(resolved))
    return DraftPreview(
        document=document,
        lines=tuple(_lines(document, resolved)),
        tax_rows=tuple(_tax_rows(document, resolved.totals)),
    )


def create_draft(
    user: User,
    draft: DraftInput,
    *,
    maker: Maker | None = None,
    document_type: DocumentType = DocumentType.INVOICE,
    draft_code: str | None = None,
) -> Document:
    """Save a draft and return it with its lines and tax rows; raises DraftInvalidError.

    A draft code that is given makes one draft only, however often; then DraftCodeUsedError.
    """
    with transaction.atomic():
        resolved = resolve_draft(user, draft)
        document = Document(type=document_type, created_by=user, **_header(resolved))
        if maker is not None:
            document.connection_id = maker.connection_id
            document.connection_name = maker.connection_name
        if draft_code is None:
            document.save(force_insert=True)
        else:
            _insert_once(document, draft_code)
        _write_parts(document, resolved)
    return document


def _insert_once(document: Document, draft_code: str) -> None:
    document.draft_code = draft_code
    try:
        with transaction.atomic():
            document.save(force_insert=True)
    except IntegrityError:
        if Document.objects.filter(draft_code=draft_code).exists():
            raise DraftCodeUsedError from None
        raise


def update_draft(user: User, pk: UUID, draft: DraftInput, *, lock_version: int) -> Document:
    """Replace the whole draft and return it with its lines and tax rows.

    Raises RecordNotFoundError, DraftInvalidError, or ConflictError where the document is not a
    draft invoice at this lock version, looked at in this order.
    """
    with transaction.atomic():
        document = lock_document(documents_visible_to(user), pk)
        resolved = resolve_draft(user, draft)
        header = _header(resolved) | {
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
            raise ConflictError
        for name, value in header.items():
            setattr(document, name, value)
        document.lines.all().delete()
        document.tax_rows.all().delete()
        _write_parts(document, resolved)
    return document


def _header(resolved: ResolvedDraft) -> dict[str, Any]:
    """Return every column that follows from the draft itself."""
    draft, totals = resolved.draft, resolved.totals
    return {
        "customer": resolved.customer,
        "issue_date": draft.issue_date,
        "due_date": draft.due_date,
        "currency_code": draft.currency_code,
        "minor_unit": resolved.minor_unit,
        "language": resolved.language,
        "notes": draft.notes,
        "reference": draft.reference,
        "net_total": totals.net_total,
        "discount_total": totals.discount_total,
        "tax_total": totals.tax_total,
        "grand_total": totals.grand_total,
    }


def _write_parts(document: Document, resolved: ResolvedDraft) -> None:
    insert_parts(document, _lines(document, resolved), _tax_rows(document, resolved.totals))


def _lines(document: Document, resolved: ResolvedDraft) -> list[Line]:
    rows = zip(resolved.draft.line_items, resolved.totals.lines, strict=True)
    return [_line(document, position, *row) for position, row in enumerate(rows)]


def _line(document: Document, position: int, item: LineInput, totals: LineTotals) -> Line:
    return Line(
        document=document,
        position=position,
        description=item.description,
        quantity_ten_thousandths=item.quantity,
        unit=item.unit,
        unit_price=item.unit_price,
        discount_type=item.discount_type,
        discount_value=item.discount_value,
        tax_rate_id=item.tax_rate_id,
        discount_amount=totals.discount_amount,
        net_amount=totals.net_amount,
    )


def _tax_rows(document: Document, totals: Totals) -> list[TaxRow]:
    return [
        TaxRow(
            document=document,
            position=position,
            tax_rate_id=row.rate.id,
            name=row.rate.name,
            percentage_ten_thousandths=row.rate.percentage,
            taxable_amount=row.taxable_amount,
            tax_amount=row.tax_amount,
        )
        for position, row in enumerate(totals.tax_breakdown)
    ]
