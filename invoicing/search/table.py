"""The statements about the word table that Django cannot write: each walk and each count is one.

A list is the part of an index with one word, or with one word and one customer, in order of record.
The SQL is written by hand because each list must be cut with LIMIT before they are merged: nothing
else keeps a page as quick among a million records as among a thousand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from invoicing.models import SearchWord
from invoicing.search.words import prefixes_of

TABLE = SearchWord._meta.db_table

# SQLite allows 500 terms in a compound SELECT, and 32,766 parameters in a statement. For a user who
# manages more customers than LISTS_PER_STATEMENT, those whose records come next are found first.
LISTS_PER_STATEMENT = 200
CUSTOMERS_PER_STATEMENT = 10_000

# OFFSET 0 makes PostgreSQL look up each row, instead of reading the whole table.
INSERT_MISSING = (
    f"INSERT INTO {TABLE} (word, customer, record)"  # noqa: S608  names of our own
    " WITH new (word, customer, record) AS ({new}) SELECT * FROM new"
    f" WHERE NOT EXISTS (SELECT 1 FROM {TABLE} AS kept WHERE kept.word = new.word"
    " AND kept.record = new.record AND kept.customer = new.customer LIMIT 1 OFFSET 0)"
    " ON CONFLICT (word, record) DO UPDATE SET customer = excluded.customer"
)

# Marks labels such as "=draft". No word of a search can hold this sign.
_LABEL = "="


class Kind(StrEnum):
    """The kinds of records in the word table: the letter that their words begin with there."""

    CUSTOMER = "C"
    DOCUMENT = "D"


class Row(NamedTuple):
    """One row of the table, with the bytes that SearchWord describes."""

    word: bytes
    customer: bytes
    record: bytes


# Words of which one is enough.
AnyOf = tuple[bytes, ...]


class Step(NamedTuple):
    """A record on a walk, and whether it has one of each of the walk's other words too."""

    record: UUID
    has_all: bool


class Count(NamedTuple):
    """How many records have a word, and the record to which these were counted, or the end."""

    rows: int
    reached: bytes


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The records that have one of `words`, in order of ID; of some customers, or of all (None)."""

    words: AnyOf
    other_words: Sequence[AnyOf] = ()
    customers: Sequence[UUID] | None = None
    newest_first: bool = False


def word_of(kind: Kind, prefix: str) -> bytes:
    """Return the prefix of a word as the table keeps it."""
    return f"{kind}{prefix}".encode()


def label_of(kind: Kind, label: str = "") -> bytes:
    """Return the word that the records with this label have; all of the kind, if it is empty."""
    return f"{kind}{_LABEL}{label}".encode()


def key_of_customer(customer: UUID) -> bytes:
    """Return the last 4 bytes of the customer's ID, by which the table names it.

    They are random. Two customers that share them cost only the reading of some more records, and
    the table is a sixth smaller than with whole IDs.
    """
    return customer.bytes[-4:]


def rows_of(
    kind: Kind, texts: Iterable[str], *, customer: UUID, record: UUID, label: str = ""
) -> set[Row]:
    """Return the rows by which a record with these texts and this label is found."""
    words = {word_of(kind, prefix) for prefix in prefixes_of(texts)}
    words |= {label_of(kind), label_of(kind, label)}
    key = key_of_customer(customer)
    return {Row(word, key, record.bytes) for word in words}


def insert_missing(rows: Sequence[Row]) -> int:
    """Insert the rows that do not exist, correct those with another customer; return how many.

    The others are looked up one by one and not written again.
    """
    if connection.vendor == "postgresql":
        new = "SELECT * FROM unnest(%b::bytea[], %b::bytea[], %b::bytea[])"
        values: list[Any] = [[row[place] for row in rows] for place in range(3)]
    else:
        new = f"VALUES {', '.join(['(%s, %s, %s)'] * len(rows))}"
        values = [value for row in rows for value in row]
    with connection.cursor() as cursor:
        cursor.execute(INSERT_MISSING.format(new=new), values)
        return int(cursor.rowcount)


def take_steps(walk: Walk, *, after: UUID | None, steps: int) -> list[Step]:
    """Return the next `steps` steps behind the record `after`; fewer, if these are the last."""
    found: list[Step] = []
    for lists in _lists(walk, after=after, steps=steps):
        found += _take_steps(walk, lists, after=after, steps=steps)
    found.sort(reverse=walk.newest_first)
    return found[:steps]


def count_rows(
    words: Sequence[bytes], *, after: UUID | None, newest_first: bool, most: int
) -> dict[bytes, Count]:
    """Count the records behind `after` that have each word, but no further than to `most`."""
    each = _list_sql("word = %s", newest_first=newest_first)
    # The subquery has the last of them only if there are so many.
    one = f"SELECT %s, count(*), ({each} OFFSET %s) FROM ({each}) AS counted"  # noqa: S608  words of our own
    bound = _bound(after, newest_first=newest_first)
    parameters: list[int | bytes] = []
    for place, word in enumerate(words):
        parameters += [place, word, bound, 1, most - 1, word, bound, most]
    end = b"" if newest_first else b"\xff" * 16
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join([one] * len(words)), parameters)
        return {
            words[int(place)]: Count(rows, end if reached is None else bytes(reached))
            for place, rows, reached in cursor.fetchall()
        }


def _lists(walk: Walk, *, after: UUID | None, steps: int) -> Iterable[Sequence[tuple[bytes, ...]]]:
    """Yield the lists to read, in batches; each as the values of the index's first columns."""
    if walk.customers is None:
        yield [(word,) for word in walk.words]
        return
    # Each once: two customers with the same key share a list.
    keys = sorted({key_of_customer(customer) for customer in walk.customers})
    if len(keys) > LISTS_PER_STATEMENT:
        keys = _keys_ahead(walk, keys, after=after, steps=steps)
    at_once = LISTS_PER_STATEMENT // len(walk.words)
    for start in range(0, len(keys), at_once):
        # All lists of a record are in one statement, which names it once.
        yield list(product(walk.words, keys[start : start + at_once]))


def _keys_ahead(
    walk: Walk, keys: Sequence[bytes], *, after: UUID | None, steps: int
) -> list[bytes]:
    """Return the keys of those customers who can have any of the next `steps` records.

    These are the `steps` customers whose first record behind the cursor comes first: before a
    record of any other customer there are that many already.
    """
    bound = _bound(after, newest_first=walk.newest_first)
    direction = "DESC" if walk.newest_first else "ASC"
    each = _list_sql("word = %s AND customer = own.column1", newest_first=walk.newest_first)
    merged = " UNION ALL ".join(f"SELECT record FROM ({each}) AS list" for _ in walk.words)  # noqa: S608  words of our own
    first = f"{merged} ORDER BY record {direction} LIMIT 1"
    ahead: list[tuple[bytes, bytes]] = []
    for start in range(0, len(keys), CUSTOMERS_PER_STATEMENT):
        batch = keys[start : start + CUSTOMERS_PER_STATEMENT]
        sql = (
            f"SELECT ({first}) AS first, own.column1"  # noqa: S608  words of our own
            f" FROM (VALUES {', '.join(['(%s)'] * len(batch))}) AS own"
            f" ORDER BY first {direction} NULLS LAST LIMIT %s"
        )
        with connection.cursor() as cursor:
            each_word = [value for word in walk.words for value in (word, bound, 1)]
            cursor.execute(sql, [*each_word, *batch, steps])
            rows = cursor.fetchall()
        ahead += [(bytes(record), bytes(key)) for record, key in rows if record is not None]
    ahead.sort(reverse=walk.newest_first)
    return [key for _, key in ahead[:steps]]


def _take_steps(
    walk: Walk, lists: Sequence[tuple[bytes, ...]], *, after: UUID | None, steps: int
) -> list[Step]:
    named = "word = %s" if walk.customers is None else "word = %s AND customer = %s"
    each = _list_sql(named, newest_first=walk.newest_first)
    bound = _bound(after, newest_first=walk.newest_first)
    has_all = " AND ".join(map(_has_any_sql, walk.other_words)) or "TRUE"
    direction = "DESC" if walk.newest_first else "ASC"
    # A record may have several words that the walk is by.
    union = " UNION ALL " if len(walk.words) == 1 else " UNION "
    merged = union.join(f"SELECT record FROM ({each}) AS list" for _ in lists)  # noqa: S608  words of our own
    sql = (
        f"SELECT record, {has_all} FROM"  # noqa: S608  words of our own, values as parameters
        f" ({merged} ORDER BY record {direction} LIMIT %s) AS walked ORDER BY record {direction}"
    )
    parameters: list[bytes | int] = [word for words in walk.other_words for word in words]
    for one in lists:
        parameters += [*one, bound, steps]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*parameters, steps])
        return [Step(UUID(bytes=bytes(record)), bool(rest)) for record, rest in cursor.fetchall()]


def _has_any_sql(words: AnyOf) -> str:
    # OFFSET 0 makes PostgreSQL look up each record, instead of reading all rows of the word.
    return (
        f"EXISTS (SELECT 1 FROM {TABLE} AS other"  # noqa: S608  names of our own
        f" WHERE other.word IN ({', '.join(['%s'] * len(words))})"
        " AND other.record = walked.record LIMIT 1 OFFSET 0)"
    )


def _list_sql(named: str, *, newest_first: bool) -> str:
    beyond, direction = ("<", "DESC") if newest_first else (">", "ASC")
    return (
        f"SELECT record FROM {TABLE} WHERE {named}"  # noqa: S608  words of our own
        f" AND record {beyond} %s ORDER BY record {direction} LIMIT %s"
    )


def _bound(after: UUID | None, *, newest_first: bool) -> bytes:
    """Return the bytes behind which a walk goes on; to begin it, bytes beyond all IDs."""
    if after is not None:
        return after.bytes
    return b"\xff" * 17 if newest_first else b""
