"""Numbers without gaps: taken in the transaction that issues, in order, once."""

from typing import NamedTuple
from uuid import UUID

from django.db import connection

from agent_access.database.rows import Rows
from invoicing.locks import require_transaction
from invoicing.models import DocumentType, NumberSeries

SERIES = Rows(NumberSeries)

# To move a series is to lock it: one statement under the lock that all issuing waits for.
_MOVE = (
    f"UPDATE {NumberSeries._meta.db_table} SET last_value = last_value + %s"  # noqa: S608  names only
    " WHERE type = %s AND year = %s RETURNING id, last_value"
)

PREFIXES = {DocumentType.INVOICE: "INV", DocumentType.CREDIT_NOTE: "CN"}


class AssignedNumber(NamedTuple):
    """A number and its place in its series."""

    series_id: UUID
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
    require_transaction()
    moved = _move_series(document_type, year, count)
    if not moved:
        # Two beginners at once: the second insert waits for the first, then does nothing.
        begun = NumberSeries(type=document_type, year=year)
        NumberSeries.objects.bulk_create([begun], ignore_conflicts=True)
        moved = _move_series(document_type, year, count)
    [(series_id, last_value)] = moved
    prefix = f"{PREFIXES[document_type]}-{year:04d}"
    return [
        AssignedNumber(series_id, value, f"{prefix}-{value:04d}")
        for value in range(last_value - count + 1, last_value + 1)
    ]


def _move_series(document_type: DocumentType, year: int, count: int) -> list[tuple[UUID, int]]:
    """Return ID and last value of the series, moved and locked; nothing before its first number."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVE, [count, document_type.value, year])
        return [(SERIES.convert_key(pk), last_value) for pk, last_value in cursor.fetchall()]
