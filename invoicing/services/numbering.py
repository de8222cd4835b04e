"""Document numbers without gaps: each is taken once, in the transaction that issues."""

from typing import NamedTuple
from uuid import UUID

from django.db.models import F

from invoicing.locks import require_transaction
from invoicing.models import DocumentType, NumberSeries

PREFIXES = {DocumentType.INVOICE: "INV", DocumentType.CREDIT_NOTE: "CN"}


class AssignedNumber(NamedTuple):
    """A number such as "INV-2026-0085", with its series and its value there (85)."""

    series_id: UUID
    series_value: int
    number: str


def next_number(document_type: DocumentType, year: int) -> AssignedNumber:
    """Take the next number of this type of document, for issue dates in this year.

    The series stays locked until the transaction ends. Raises RuntimeError outside of one.
    """
    require_transaction()
    series = NumberSeries.objects.filter(type=document_type, year=year)
    if not series.update(last_value=F("last_value") + 1):
        # If two calls begin the series at once, the second insert waits, then does nothing.
        begun = NumberSeries(type=document_type, year=year)
        NumberSeries.objects.bulk_create([begun], ignore_conflicts=True)
        series.update(last_value=F("last_value") + 1)
    taken = series.get()
    number = f"{PREFIXES[document_type]}-{year:04d}-{taken.last_value:04d}"
    return AssignedNumber(taken.id, taken.last_value, number)
