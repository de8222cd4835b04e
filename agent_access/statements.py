"""Statements written by hand, made one after the other or, by PostgreSQL, all as one."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.db import connection

# The text, with the values in their order.
Statement = tuple[str, Sequence[Any]]
# By names that SQL takes as they are.
Statements = Mapping[str, Statement]
NOTHING: Statements = MappingProxyType({})


def execute_each(statements: Iterable[Statement]) -> None:
    """Make the statements one after the other."""
    with connection.cursor() as cursor:
        for sql, values in statements:
            cursor.execute(sql, values)


def execute_together(statements: Statements) -> int:
    """Make one statement of all, by PostgreSQL; return how many rows the last of them wrote.

    It may read, by their names, what the others return. What they write none of them sees.
    """
    *first, (_, (last, _)) = statements.items()
    parts = ", ".join(f"{name} AS ({sql})" for name, (sql, _) in first)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH {parts} {last}" if parts else last,
            [value for _, values in statements.values() for value in values],
        )
        return int(cursor.rowcount)
