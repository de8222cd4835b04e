"""To issue is to give a number and freeze."""

from typing import Any

from django.db import transaction
from django.db.models import prefetch_related_objects

from invoicing.clock import Clock
from invoicing.errors import ConflictError, InactiveReferenceError
from invoicing.locks import lock_document
from invoicing.models import Customer, Document, DocumentStatus, DocumentType
from invoicing.services.company import current_company
from invoicing.services.numbering import next_number
from invoicing.totals import calculate_totals


def issue_document(document: Document, *, clock: Clock) -> Document:
    """Issue the draft at the lock version given and return it, frozen, with its parts.

    The caller has asked for permission. Raises ConflictError where the document is no draft, was
    changed since, or no longer agrees with its customer or tax rates; raises
    RecordNotFoundError where it is gone.
    """
    with transaction.atomic():
        draft = lock_document(Document.objects.select_related("customer"), document.pk)
        if (draft.status, draft.lock_version) != (DocumentStatus.DRAFT, document.lock_version):
            raise ConflictError
        require_issuable(draft)
        _freeze(draft, clock)
    return draft


def require_issuable(draft: Document) -> None:
    """Raise ConflictError where the draft does not agree with its customer or tax rates any more.

    It is InactiveReferenceError where one of them became inactive.
    """
    prefetch_related_objects([draft], "lines__tax_rate", "tax_rows")
    # The draft holds its totals and the facts of its rates already; they only have to be true.
    lines = list(draft.lines.all())
    rates_active = all(line.tax_rate.is_active for line in lines if line.tax_rate)
    if not draft.customer.is_active or not rates_active:
        raise InactiveReferenceError
    totals = calculate_totals([line.amounts for line in lines])
    computed = [(row.rate, row.taxable_amount, row.tax_amount) for row in totals.tax_breakdown]
    kept = [(row.facts, row.taxable_amount, row.tax_amount) for row in draft.tax_rows.all()]
    if computed != kept or totals.grand_total != draft.grand_total:
        raise ConflictError


def _freeze(draft: Document, clock: Clock) -> None:
    """Take the number as the last lock, and let the status flip be the last statement.

    The clock is read under that lock, so that in a series the times follow the numbers.
    """
    parties = _parties(draft.customer)
    series, value, number = next_number(DocumentType(draft.type), draft.issue_date.year)
    issued_at = clock()
    frozen = parties | {
        "series": series,
        "series_value": value,
        "number": number,
        "issued_at": issued_at,
        "updated_at": issued_at,
        "lock_version": draft.lock_version + 1,
        "status": DocumentStatus.ISSUED,
    }
    unchanged = Document.objects.filter(
        pk=draft.pk, status=DocumentStatus.DRAFT, lock_version=draft.lock_version
    )
    if not unchanged.update(**frozen):
        raise ConflictError
    for name, fact in frozen.items():
        setattr(draft, name, fact)


def _parties(customer: Customer) -> dict[str, Any]:
    company = current_company()
    return {
        "seller_name": company.name,
        "seller_address": company.postal_address,
        "seller_vat_number": company.vat_number,
        "buyer_name": customer.name,
        "buyer_address": customer.postal_address,
        "buyer_vat_number": customer.vat_number,
    }
