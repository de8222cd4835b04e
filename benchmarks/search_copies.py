"""Fills a database with copies of the sample company's documents, a million if need be, by SQL.

Each copy has a number, a draft code and a reference of its own, and the words of these; lines are
not searched, and left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from tqdm import tqdm

from invoicing.models import (
    Customer,
    Document,
    DocumentStatus,
    DocumentType,
    NumberSeries,
    SearchWord,
)
from invoicing.search.table import TABLE, Row
from invoicing.services.customers import create_customers
from invoicing.services.search_words import rows_of_document

CUSTOMERS_AT_ONCE = 1000
DOCUMENTS_AT_ONCE = 5000
ISSUED_TENTHS = 7

_SEARCHED = ("number", "draft_code", "reference", "status", "buyer_name", "customer_id")

# Digits of a number that no other copy has, and that do not follow the order of the copies.
_CODE = " || ".join(
    "substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',"
    f" ((n * 694847539187 & 1099511627775) >> {5 * place} & 31)::int + 1, 1)"
    for place in range(8)
)
# A UUIDv7 of the n-th millisecond from now.
_ID = (
    "(lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint + n), 12, '0') || '7'"
    " || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid"
)
_NEW = {
    "id": _ID,
    "draft_code": f"'D-' || {_CODE}",
    "reference": "CASE WHEN mod(n, 3) = 0 THEN '' ELSE 'PO-' || 26000 + n END",
}
_NEW_ISSUED = {
    "number": (
        "'INV-2026-' || lpad((last_value + n)::text,"
        " greatest(4, length((last_value + n)::text)), '0')"
    ),
    "series_id": "series.id",
    "series_value": "last_value + n",
}


def insert_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of values as the database keeps them: COPY on PostgreSQL."""
    names = ", ".join(columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608  no value is in the text
            cursor.executemany(sql, list(rows))


def fill_database(documents: int) -> None:
    """Copy the documents of the sample company until there are so many, and add customers."""
    last = Document.objects.latest("id").pk
    add_customers(documents // 10)
    copy_documents(documents)
    write_words(last)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def copy_documents(documents: int) -> None:
    """Copy the documents, without their words, until there are so many."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        connection.connection.receive_timeout = None
    copies = documents - Document.objects.count()
    issued = copies * ISSUED_TENTHS // 10
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_copy(DocumentStatus.ISSUED, _NEW | _NEW_ISSUED), [1, issued])
        cursor.execute(_copy(DocumentStatus.DRAFT, _NEW), [issued + 1, copies])
        # The guard lets a series that documents bear go on by one only.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE invoices_numberseries DISABLE TRIGGER USER")
        NumberSeries.objects.filter(type=DocumentType.INVOICE, year=2026).update(
            last_value=F("last_value") + issued
        )
        cursor.execute("ALTER TABLE invoices_numberseries ENABLE TRIGGER USER")


def add_customers(count: int) -> None:
    """Make customers until there are so many; the earlier half is called Bros."""
    missing = range(Customer.objects.count(), count)
    middle = missing.start + len(missing) // 2
    for start in missing[::CUSTOMERS_AT_ONCE]:
        numbers = missing[start - missing.start :][:CUSTOMERS_AT_ONCE]
        names = [f"Harbour {n:07} {'Bros' if n < middle else 'Inc'}" for n in numbers]
        create_customers([Customer(name=name) for name in names])


def _copy(status: DocumentStatus, new: dict[str, str]) -> str:
    columns = [str(field.column) for field in Document._meta.concrete_fields]
    values = ", ".join(new.get(column, f"model.{column}") for column in columns)
    return (
        f"INSERT INTO invoices_document ({', '.join(columns)}) SELECT {values}"  # noqa: S608  names of our own
        " FROM generate_series(%s::bigint, %s) AS n JOIN"
        " (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS places"
        f" FROM invoices_document WHERE status = '{status}' AND type = '{DocumentType.INVOICE}')"
        " AS model ON place = mod(n, places)"
        " CROSS JOIN (SELECT id, last_value FROM invoices_numberseries WHERE type = 'invoice'"
        " AND year = 2026) AS series ORDER BY n"
    )


def write_words(after: UUID) -> None:
    """Write the words of the documents after this ID; making the indexes last takes a tenth."""
    [index] = SearchWord._meta.indexes
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT {TABLE}_pkey")
        cursor.execute(f"DROP INDEX {index.name}")
        for documents in _batches(after):
            insert_rows(
                TABLE, Row._fields, (row for each in documents for row in rows_of_document(each))
            )
        cursor.execute("SET LOCAL maintenance_work_mem = '1GB'")
        cursor.execute(f"ALTER TABLE {TABLE} ADD PRIMARY KEY (word, record)")
        cursor.execute(f"CREATE INDEX {index.name} ON {TABLE} (word, customer, record)")


def _batches(after: UUID) -> Iterator[list[Document]]:
    named = Customer.objects.filter(pk__in=Document.objects.values("customer"))
    customers = {customer.pk: customer for customer in named}
    documents = Document.objects.only(*_SEARCHED).order_by("id")
    with tqdm(total=documents.filter(id__gt=after).count(), desc="Words", disable=None) as progress:
        while batch := list(documents.filter(id__gt=after)[:DOCUMENTS_AT_ONCE]):
            for document in batch:
                document.customer = customers[document.customer_id]
            yield batch
            progress.update(len(batch))
            after = batch[-1].id
