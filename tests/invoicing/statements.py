"""SQL as an operator types it, and what the database's triggers make of it."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from tests.snapshots import take_snapshot

OTHER_ID = "'01890000000070008000000000000001'"


def execute(sql: str) -> int:
    """Return how many rows the statement touched."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        rows: int = cursor.rowcount
        return rows


def refuse(sql: str, *, told: str) -> None:
    """The statement must be refused in these words, and change nothing."""
    before = take_snapshot()
    with pytest.raises(IntegrityError, match=told), transaction.atomic():
        execute(sql)
    assert take_snapshot() == before


def truncate(table: str, *, told: str) -> None:
    """To empty the table, which PostgreSQL does to whole tables only, must be refused."""
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    refuse(f"TRUNCATE {table} CASCADE", told=told)


def columns_of(model: type[Model]) -> list[str]:
    return [str(field.column) for field in model._meta.local_concrete_fields]
