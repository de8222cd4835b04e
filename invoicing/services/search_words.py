"""Writes the word table, in the same transaction as the record (ADR 14).

Callers that write words of a document hold its customer first (locks.hold_customers), and callers
that rename a customer lock it exclusively, so that no rename can leave old words behind.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

from agent_access.database.statements import Statement, Statements, execute_together
from invoicing.models import Customer, Document
from invoicing.search.table import TABLE, Kind, Row, rows_of
from invoicing.search.texts import texts_of_customer, texts_of_document

_ROWS_PER_STATEMENT = 5000
_INSERT = f"INSERT INTO {TABLE} (word, customer, record)"
_REPLACING = "ON CONFLICT (word, record) DO UPDATE SET customer = excluded.customer"
# The values go in their binary form (%b), which takes a third of the time of text.
_ROWS = "SELECT * FROM unnest(%b::bytea[], %b::bytea[], %b::bytea[])"
_ADD = f"{_INSERT} {_ROWS}"
_REMOVE = (
    f"DELETE FROM {TABLE} AS kept"  # noqa: S608  names of our own
    " USING unnest(%b::bytea[], %b::bytea[]) AS gone (word, record)"
    " WHERE kept.word = gone.word AND kept.record = gone.record"
)
# OFFSET 0 makes PostgreSQL look up each row, instead of reading the whole table.
_ADD_MISSING = (
    f"{_INSERT} WITH new (word, customer, record) AS ({{new}}) SELECT * FROM new"  # noqa: S608  names of our own
    f" WHERE NOT EXISTS (SELECT 1 FROM {TABLE} AS kept WHERE kept.word = new.word"
    " AND kept.record = new.record AND kept.customer = new.customer LIMIT 1 OFFSET 0)"
    f" {_REPLACING}"
)
_RECORDS_AT_ONCE = 500

_Record = TypeVar("_Record", bound=Model)


def rows_of_document(document: Document) -> set[Row]:
    """Return the rows by which a document is found; a draft's `customer` must not be outdated."""
    return rows_of(
        Kind.DOCUMENT,
        texts_of_document(document),
        customer=document.customer_id,
        record=document.id,
        label=document.status,
    )


def rows_of_customer(customer: Customer) -> set[Row]:
    """Return the rows by which a customer is found."""
    texts = texts_of_customer(customer)
    return rows_of(Kind.CUSTOMER, texts, customer=customer.id, record=customer.id)


def write_rows(rows: Collection[Row]) -> None:
    """Insert rows, overwriting those that exist."""
    replace_rows((), rows)


def compose_addition(rows: Sequence[Row]) -> Statement:
    """Return a statement that inserts rows, some thousand at most, of which none exists yet."""
    if connection.vendor == "postgresql":
        return _ADD, _columns(rows, 3)
    return f"{_INSERT} {_values(rows)}", [value for row in rows for value in row]


def replace_rows(before: Collection[Row], after: Collection[Row]) -> None:
    """Insert the rows that are only in `after`, delete those only in `before`: often none."""
    gone, new = _compare(before, after)
    for start in range(0, max(len(gone), len(new)), _ROWS_PER_STATEMENT):
        batch = slice(start, start + _ROWS_PER_STATEMENT)
        execute_together(_compose_batch(gone[batch], new[batch]))


def compose_replacement(before: Collection[Row], after: Collection[Row]) -> Statements:
    """Return the statements of replace_rows(), for at most some thousand rows that differ."""
    return _compose_batch(*_compare(before, after))


def write_missing_rows(rows: Collection[Row]) -> int:
    """Write the rows that do not exist or have another customer; return how many these were.

    Rows that are right are only read, so to do this again costs little.
    """
    ordered, written = sorted(rows), 0
    for start in range(0, len(ordered), _ROWS_PER_STATEMENT):
        batch = ordered[start : start + _ROWS_PER_STATEMENT]
        written += execute_together({"missing_words": _compose_missing(batch)})
    return written


def _compose_missing(rows: Sequence[Row]) -> Statement:
    if connection.vendor == "postgresql":
        return _ADD_MISSING.format(new=_ROWS), _columns(rows, 3)
    values = [value for row in rows for value in row]
    return _ADD_MISSING.format(new=_values(rows)), values


def _compare(
    before: Collection[Row], after: Collection[Row]
) -> tuple[list[tuple[bytes, bytes]], list[Row]]:
    kept = {(row.word, row.record) for row in after}
    gone = {(row.word, row.record) for row in before} - kept
    return sorted(gone), sorted(set(after).difference(before))


def _compose_batch(gone: Sequence[tuple[bytes, bytes]], new: Sequence[Row]) -> Statements:
    statements = {}
    if gone:
        statements["gone_words"] = _compose_removal(gone)
    if new:
        statements["new_words"] = _compose_writing(new)
    return statements


def batches_by_id(records: QuerySet[_Record]) -> Iterator[list[_Record]]:
    """Yield the records in order of ID, in batches."""
    ordered = records.order_by("pk")
    batch = list(ordered[:_RECORDS_AT_ONCE])
    while batch:
        yield batch
        batch = list(ordered.filter(pk__gt=batch[-1].pk)[:_RECORDS_AT_ONCE])


def _compose_writing(rows: Sequence[Row]) -> Statement:
    """Return a statement that inserts sorted rows or overwrites those that exist.

    Every writer sorts its rows, so that two of them cannot deadlock.
    """
    sql, values = compose_addition(rows)
    return f"{sql} {_REPLACING}", values


def _compose_removal(rows: Sequence[tuple[bytes, bytes]]) -> Statement:
    # PostgreSQL plans a join with arrays anew each time, once the table is large. Issuing, for
    # which others wait, removes one row.
    if connection.vendor == "postgresql" and len(rows) > 1:
        return _REMOVE, _columns(rows, 2)
    # Without the inner SELECT, SQLite reads the whole table as soon as there are two rows.
    removal = (
        f"DELETE FROM {TABLE} WHERE (word, record)"  # noqa: S608  no value is in the text
        f" IN (SELECT * FROM ({_values(rows)}) AS gone)"
    )
    return removal, [value for row in rows for value in row]


def _columns(rows: Sequence[tuple[bytes, ...]], count: int) -> list[list[bytes]]:
    return [[row[place] for row in rows] for place in range(count)]


def _values(rows: Sequence[tuple[bytes, ...]]) -> str:
    row = f"({', '.join(['%s'] * len(rows[0]))})"
    return f"VALUES {', '.join([row] * len(rows))}"
