"""Drafts of credit notes that correct an issued invoice, in whole or in part.

What is left of an invoice is not stored, but the difference between it and its issued corrections:
one truth. A correction is issued while the invoice's row is locked, and judged by what is left
then; a trigger does the same for whoever writes SQL.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Sum, prefetch_related_objects
from django.utils.translation import gettext_noop

from invoicing.corrections import Balance, LinePart, Part, TaxPart, subtract
from invoicing.draft_fields import COLUMNS, DRAFT_TEXTS, CorrectionInput, LineItemInput, PersonInput
from invoicing.errors import ConflictCause, ConflictError, DraftInvalidError, FieldProblem
from invoicing.fixed_point import format_fixed_point
from invoicing.locks import lock_draft
from invoicing.models import Document, DocumentStatus, DocumentType, Line, TaxRow, User
from invoicing.models.documents import TOTALS
from invoicing.money import ExchangeRate, Money, convert
from invoicing.services.draft_content import DraftContent
from invoicing.services.drafts import insert_once, insert_parts, replace_content
from invoicing.services.search_words import rows_of_document, write_rows
from invoicing.totals import DiscountType, LineAmounts

# What a credit note has as the invoice has it. Issuing freezes the rest: parties and rates.
EXCESS = gettext_noop("must be more than 0 and at most {left}, the quantity left")
COPIED = (
    *("customer", "currency_code", "minor_unit", "language"),
    *("national_currency", "national_minor_unit"),
    *(name for name in DRAFT_TEXTS if name != "notes"),
    *(COLUMNS.get(name, name) for name in PersonInput.model_fields),
)
COPIED_OF_LINE = tuple(name for name in LineItemInput.model_fields if name not in COLUMNS)


def create_correction(
    user: User, original_id: UUID, asked: CorrectionInput, *, draft_code: str | None = None
) -> Document:
    """Save the draft of a credit note and return it; raises RecordNotFoundError.

    Raises ConflictError if the document is no issued invoice, DraftInvalidError for quantities that
    are not left, and DraftCodeUsedError as create_draft() does.
    """
    with transaction.atomic(savepoint=False):
        original = lock_draft(original_id, visible_to=user)
        if not is_correctable(original):
            raise ConflictError(ConflictCause.NO_ISSUED_INVOICE)
        document = Document(type=DocumentType.CREDIT_NOTE, corrects=original, created_by=user)
        if draft_code is not None:
            document.draft_code = draft_code
        content = _fill(document, original, asked)
        insert_once(document)
        insert_parts(content)
        write_rows(rows_of_document(document))
    return document


def update_correction(
    user: User, pk: UUID, asked: CorrectionInput, *, lock_version: int
) -> Document:
    """Replace what the draft of a correction takes back, and return it.

    Raises RecordNotFoundError, ConflictError if it is not a draft of one at this lock version, and
    DraftInvalidError for quantities that are not left.
    """
    with transaction.atomic(savepoint=False):
        document = lock_draft(pk, visible_to=user)
        if not is_draft_correction(document):
            raise ConflictError(ConflictCause.NO_DRAFT_INVOICE)
        content = _fill(document, corrected_by(document), asked)
        if not replace_content(Document.objects.all(), content, lock_version):
            raise ConflictError(ConflictCause.OLD_VERSION)
    return document


def is_correctable(document: Document) -> bool:
    """Return whether this is an issued invoice, of which something may be left."""
    return document.is_issued and not document.is_credit_note


def is_draft_correction(document: Document) -> bool:
    return document.corrects_id is not None and not document.is_issued


def corrected_by(document: Document) -> Document:
    """Return the invoice that a document corrects, which it must do."""
    assert document.corrects is not None  # noqa: S101  for the type checker
    return document.corrects


def require_left(draft: Document) -> None:
    """Raise ConflictError unless the draft of a correction is what it would be if written now.

    Another one may have been issued since. To rely on the answer, lock the draft before.
    """
    balance = read_balance(corrected_by(draft))
    kept = _part_of(draft, {line.corrects_id: line for line in draft.lines.all()})
    quantities = {pk: line.quantity for pk, line in kept.lines.items()}
    totals = {name: getattr(draft, name) for name in TOTALS}
    if (
        not quantities
        or balance.find_excess(quantities)
        or balance.take(quantities) != kept
        or totals != {name: getattr(kept, name) for name in TOTALS}
    ):
        raise ConflictError(ConflictCause.LESS_IS_LEFT)


def read_balance(original: Document) -> Balance:
    """Return the lines of an issued invoice and what its issued corrections have left of it."""
    prefetch_related_objects([original], "lines", "tax_rows")
    lines = {line.pk: line for line in original.lines.all()}
    rates = {row.tax_rate_id: row.facts for row in original.tax_rows.all()}
    amounts = {
        pk: LineAmounts(
            line.quantity_ten_thousandths,
            line.unit_price,
            DiscountType(line.discount_type) if line.discount_type else None,
            line.discount_value,
            rates.get(line.tax_rate_id) if line.tax_rate_id else None,
        )
        for pk, line in lines.items()
    }
    left = subtract(_part_of(original, lines), _read_taken(original))
    return Balance(amounts, left, partial(_declare, original))


def _part_of(document: Document, lines: Mapping[Any, Line]) -> Part:
    """Return all that a document has, its lines by the IDs given."""
    return Part(
        {
            pk: LinePart(line.quantity_ten_thousandths, line.discount_amount, line.net_amount)
            for pk, line in lines.items()
        },
        {
            row.tax_rate_id: TaxPart(row.taxable_amount, row.tax_amount)
            for row in document.tax_rows.all()
        },
        document.national_tax_total or 0,
    )


def _read_taken(original: Document) -> Part:
    issued = Document.objects.filter(corrects=original, status=DocumentStatus.ISSUED)
    lines = Line.objects.filter(document__in=issued).order_by().values_list("corrects")
    taxes = TaxRow.objects.filter(document__in=issued).order_by().values_list("tax_rate")
    declared = issued.aggregate(sum=Sum("national_tax_total"))["sum"]
    of_lines = lines.annotate(
        Sum("quantity_ten_thousandths"), Sum("discount_amount"), Sum("net_amount")
    )
    of_taxes = taxes.annotate(Sum("taxable_amount"), Sum("tax_amount"))
    return Part(
        {pk: LinePart(*sums) for pk, *sums in of_lines},
        {pk: TaxPart(*sums) for pk, *sums in of_taxes},
        declared or 0,
    )


def _declare(original: Document, tax: int) -> int:
    """Return tax in the currency in which it is declared, at the invoice's own rate; 0 if none."""
    if not original.national_currency or original.exchange_rate_millionths is None:
        return 0
    rate = ExchangeRate(original.exchange_rate_millionths, original.exchange_rate_base)
    money = Money(tax, original.currency_code, original.minor_unit)
    decimals = original.national_minor_unit or 0
    return convert(money, rate, original.national_currency, decimals) or 0


def _fill(document: Document, original: Document, asked: CorrectionInput) -> DraftContent:
    """Set what the correction decides on the document, and return it with new lines and rows."""
    balance = read_balance(original)
    _require_correctable(original, balance, asked)
    part = balance.take(asked.quantities)
    header = {
        **{name: getattr(original, name) for name in COPIED},
        **{name: getattr(part, name) for name in TOTALS},
        "national_tax_total": part.national_tax if original.national_currency else None,
        "issue_date": asked.issue_date,
        "due_date": asked.issue_date,
        "correction_reason": asked.correction_reason,
    }
    for name, value in header.items():
        setattr(document, name, value)
    lines = _make_lines(document, original, part)
    return DraftContent(document, header, lines, _make_tax_rows(document, original, part))


def _require_correctable(original: Document, balance: Balance, asked: CorrectionInput) -> None:
    excess = balance.find_excess(asked.quantities)
    problems = [_excess(balance, pk) for pk in excess]
    if asked.issue_date < original.issue_date:
        problems.append(
            FieldProblem("issue_date", gettext_noop("must not be before that of the invoice"))
        )
    if not asked.quantities:
        problems.append(FieldProblem("quantities", gettext_noop("must take something back")))
    if problems:
        raise DraftInvalidError(tuple(problems))


def _excess(balance: Balance, pk: UUID) -> FieldProblem:
    left = balance.left.lines.get(pk, LinePart(0, 0, 0)).quantity
    values = {"left": format_fixed_point(left)}
    return FieldProblem(str(pk), EXCESS.format(**values), EXCESS, values)


def _make_lines(document: Document, original: Document, part: Part) -> list[Line]:
    told = {line.pk: line for line in original.lines.all()}
    return [
        Line(
            document_id=document.pk,
            position=position,
            corrects_id=pk,
            quantity_ten_thousandths=taken.quantity,
            discount_amount=taken.discount_amount,
            net_amount=taken.net_amount,
            **_copy_of_line(told[pk], taken),
        )
        for position, (pk, taken) in enumerate(part.lines.items())
    ]


def _copy_of_line(line: Line, taken: LinePart) -> dict[str, Any]:
    copy = {name: getattr(line, name) for name in COPIED_OF_LINE}
    if line.discount_type == DiscountType.AMOUNT:
        copy["discount_value"] = taken.discount_amount
    return copy


def _make_tax_rows(document: Document, original: Document, part: Part) -> list[TaxRow]:
    told = {row.tax_rate_id: row for row in original.tax_rows.all()}
    return [
        TaxRow(
            document_id=document.pk,
            position=position,
            tax_rate_id=pk,
            name=told[pk].name,
            percentage_ten_thousandths=told[pk].percentage_ten_thousandths,
            taxable_amount=taken.taxable_amount,
            tax_amount=taken.tax_amount,
        )
        for position, (pk, taken) in enumerate(part.taxes.items())
    ]
