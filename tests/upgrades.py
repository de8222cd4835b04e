"""Bring a database to a release before and up again, and read its rows as they are stored."""

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

from django.core.management import call_command
from django.db import connection

from agent_access.database import triggers


def migrate() -> None:
    call_command("migrate", verbosity=0)


def migrate_back(app: str, target: str) -> None:
    """Undo migrations; PostgreSQL's triggers of today would name columns that are gone."""
    on_postgresql = connection.vendor == "postgresql"
    with patch.object(triggers, "install") if on_postgresql else nullcontext():
        call_command("migrate", app, target, verbosity=0)


def read_rows(table: str) -> dict[Any, dict[str, Any]]:
    """Return the rows by ID, each by the names of its columns."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")  # noqa: S608  constants only
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return {row["id"]: row for row in rows}
