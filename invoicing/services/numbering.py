"""Document numbers without gaps: each is taken once, in the transaction that issues."""

from typing import NamedTuple
from uuid import UUID

from django.db import connection

from invoicing.locks import require_transaction
from invoicing.models import DocumentType, NumberSeries
from invoicing.rows import SERIES

# Increments and locks the series in one statement, since all who issue wait for that lock.
_MOVE = (
    f"UPDATE {NumberSeries._meta.db_table} SET last_value = last_value + %s"  # noqa: S608  names only
    " WHERE type = %s AND year = %s RETURNING id, last_value"
)

PREFIXES = {DocumentType.INVOICE: "INV", DocumentType.CREDIT_NOTE: "CN"}


class AssignedNumber(NamedTuple):
    """A number such as "INV-2026-0085", with its series and its value there (85)."""

    series_id: UUID
    value: int
    number: str


def next_number(document_type: DocumentType, year: int) -> AssignedNumber:
    """Take the next number of this type of document, for issue dates in this year.

    The series stays locked until the transaction ends. Raises RuntimeError outside of one.
    """
    [number] = next_numbers(document_type, year, count=1)
    return number


def next_numbers(document_type: DocumentType, year: int, *, count: int) -> list[AssignedNumber]:
    """Take the next `count` numbers, as next_number() takes one."""
    require_transaction()
    moved = _move_series(document_type, year, count)
    if not moved:
        # If two calls begin the series at once, the second insert waits, then does nothing.
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
    """Increment and lock the series; return its ID and last value, or nothing if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(_MOVE, [count, document_type.value, year])
        return [(SERIES.convert_key(pk), last_value) for pk, last_value in cursor.fetchall()]
