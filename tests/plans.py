"""The query plans of the statements that a function executes."""

from collections.abc import Callable
from typing import Any

from django.db import connection


def prefer_indexes() -> None:
    """Keep PostgreSQL from scanning and sorting small tables where an index could serve."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")


def plans_of(work: Callable[[], object], *, where: str) -> str:
    """Return the plans of the executed statements that contain `where`; there must be one."""
    statements = []

    def note(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:  # noqa: FBT001  Django calls it so
        statements.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        work()
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    lines: list[str] = []
    with connection.cursor() as cursor:
        for sql, parameters in statements:
            if where in sql:
                cursor.execute(f"{explain} {sql}", parameters)
                lines += [str(row[-1]) for row in cursor.fetchall()]
    assert lines
    return "\n".join(lines)
