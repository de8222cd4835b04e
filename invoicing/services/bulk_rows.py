"""Inserts rows by the thousand: COPY on PostgreSQL, one prepared statement on SQLite."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Model


def insert_records(model: type[Model], records: Iterable[Model]) -> None:
    """Insert records as Django would, each column as its field prepares it."""
    options = model._meta
    # Not the proxy, which looks the connection up for every value.
    database = connections[DEFAULT_DB_ALIAS]
    fields = [(field.attname, field.get_db_prep_save) for field in options.concrete_fields]
    rows = (
        [prepare(getattr(record, name), database) for name, prepare in fields] for record in records
    )
    insert_rows(options.db_table, [str(field.column) for field in options.concrete_fields], rows)


def insert_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of values that the database takes as they are; the names are the caller's own."""
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
