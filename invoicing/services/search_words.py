"""Writes the word table, in the same transaction as the record (ADR 14).

Callers that write words of a document or rename a customer lock the customer first, so that no
rename can leave old words behind.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

from invoicing.models import Customer, Document, SearchWord
from invoicing.search.table import Kind, Row, insert_missing, rows_of
from invoicing.search.texts import texts_of_customer, texts_of_document

_ROWS_PER_STATEMENT = 5000
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


def write_rows(rows: Collection[Row]) -> int:
    """Write the rows that do not exist or have another customer; return how many these were.

    Rows that are right are only read, so to do this again costs little. They are sorted, as those
    of every writer, so that two of them cannot deadlock.
    """
    ordered = sorted(rows)
    batches = range(0, len(ordered), _ROWS_PER_STATEMENT)
    return sum(insert_missing(ordered[start : start + _ROWS_PER_STATEMENT]) for start in batches)


def replace_rows(before: Collection[Row], after: Collection[Row]) -> None:
    """Insert the rows that are only in `after`, delete those only in `before`: often none."""
    kept = {(row.word, row.record) for row in after}
    gone = defaultdict(list)
    for word, record in sorted({(row.word, row.record) for row in before} - kept):
        gone[word].append(record)
    for word, records in gone.items():
        SearchWord.objects.filter(word=word, record__in=records).delete()
    write_rows(set(after).difference(before))


def batches_by_id(
    records: QuerySet[_Record], size: int = _RECORDS_AT_ONCE
) -> Iterator[list[_Record]]:
    """Yield the records in order of ID, in batches."""
    ordered = records.order_by("pk")
    batch = list(ordered[:size])
    while batch:
        yield batch
        batch = list(ordered.filter(pk__gt=batch[-1].pk)[:size])
