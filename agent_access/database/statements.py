"""Several statements written by hand, which PostgreSQL executes as one."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.db import connection

# SQL and its parameters.
Statement = tuple[str, Sequence[Any]]
# By name; a name is an identifier that needs no quotes.
Statements = Mapping[str, Statement]
NOTHING: Statements = MappingProxyType({})


def execute_together(statements: Statements) -> int:
    """Execute the statements, on PostgreSQL as one; return how many rows the last one wrote.

    There all but the last become common table expressions: the last one may read, by their names,
    what they return. No statement sees what another one writes.
    """
    if not statements:
        return 0
    made = [*statements.values()] if connection.vendor != "postgresql" else [_join(statements)]
    with connection.cursor() as cursor:
        for sql, values in made:
            cursor.execute(sql, values)
        return int(cursor.rowcount)


def _join(statements: Statements) -> Statement:
    *first, (_, (last, _)) = statements.items()
    parts = ", ".join(f"{name} AS ({sql})" for name, (sql, _) in first)
    values = [value for _, each in statements.values() for value in each]
    return f"WITH {parts} {last}" if parts else last, values
