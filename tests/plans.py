"""The query plans of the statements that a function executes."""

from collections.abc import Callable
from typing import Any

from django.db import connection


def prefer_indexes() -> None:
    """Keep PostgreSQL from scanning and sorting small tables where an index could serve."""
    gather_statistics()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")


def gather_statistics() -> None:
    """Tell the database how many rows there are, in its own tables alone.

    PostgreSQL's shared tables would stay locked until the test ends, for all that run beside it.
    Its indexes are built anew: what earlier tests rolled back makes one seem dearer than another.
    """
    tables = [connection.ops.quote_name(name) for name in _tables()]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for table in tables:
                cursor.execute(f"REINDEX TABLE {table}")
            cursor.execute(f"ANALYZE {', '.join(tables)}")
        else:
            cursor.execute("ANALYZE")


def _tables() -> list[str]:
    return sorted(connection.introspection.django_table_names(only_existing=True))


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
