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
    series = lock_number_series(document_type, year)
    value = series.last_value + 1
    taken = NumberSeries.objects.filter(pk=series.pk, last_value=series.last_value)
    if not taken.update(last_value=F("last_value") + 1):
        raise ConflictError
    series.last_value = value
    number = f"{PREFIXES[document_type]}-{year:04d}-{value:04d}"
    return AssignedNumber(series, value, number)
