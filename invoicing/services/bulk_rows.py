"""Inserts rows by the thousand: COPY on PostgreSQL, one prepared statement on SQLite."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

from agent_access.database.rows import Rows


def insert_records(rows: Rows[Any], records: Iterable[Model]) -> None:
    """Insert records as Django would, each column as its field prepares it."""
    insert_rows(rows.table, rows.columns, map(rows.parameters, records))


def insert_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of values as the database keeps them; names go into the SQL, so never foreign."""
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
