"""Numbers without gaps: taken in the transaction that issues, in order, once."""

from typing import NamedTuple

from django.db.models import F

from invoicing.errors import ConflictError
from invoicing.locks import lock_number_series
from invoicing.models import DocumentType, NumberSeries

PREFIXES = {DocumentType.INVOICE: "INV", DocumentType.CREDIT_NOTE: "CN"}


class AssignedNumber(NamedTuple):
    """A number and its place in its series."""

    series: NumberSeries
    value: int
    number: str


def next_number(document_type: DocumentType, year: int) -> AssignedNumber:
    """Take the next number of the type's series of that year of issue dates.

    The series stays locked until the transaction ends; raises RuntimeError outside one.
    """
    [number] = next_numbers(document_type, year, count=1)
    return number


def next_numbers(document_type: DocumentType, year: int, *, count: int) -> list[AssignedNumber]:
    """Take so many numbers one after the other, as next_number takes one."""
    series = lock_number_series(document_type, year)
    first = series.last_value + 1
    taken = NumberSeries.objects.filter(pk=series.pk, last_value=series.last_value)
    if not taken.update(last_value=F("last_value") + count):
        raise ConflictError
    series.last_value += count
    prefix = f"{PREFIXES[document_type]}-{year:04d}"
    return [
        AssignedNumber(series, value, f"{prefix}-{value:04d}")
        for value in range(first, first + count)
    ]
