"""All rows of a database, by table and by ID, read by SQL: also those of tables of before."""

from typing import Any

from django.db import connection

Row = dict[str, Any]
Rows = dict[str, dict[Any, Row]]


def read_tables() -> Rows:
    """Return the rows of each table that has an ID, each by the names of its columns."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        return {table: rows for table in tables if (rows := _read(cursor, table)) is not None}


def _read(cursor: Any, table: str) -> dict[Any, Row] | None:
    cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608  a table's name
    names = [column[0] for column in cursor.description]
    if "id" not in names:
        return None
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return {row["id"]: row for row in rows}
