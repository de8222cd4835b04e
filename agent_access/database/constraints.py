"""Finds what the tables have lost of the constraints that the models declare.

They are the first guard of every rule that two calls at once could break, and an account that owns
a table can drop one. Only the models say which constraints there should be: a database does not
remember.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.apps import apps
from django.core import checks
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CheckConstraint, Model, UniqueConstraint

REPAIR = (
    "If this release has migrated the database, somebody has changed it since: find out who, and"
    " what was written meanwhile. manage.py sqlmigrate prints the statement that adds it again."
)

# What the database has under each name: "columns", and what kind of constraint it is.
Held = Mapping[str, Mapping[str, Any]]
KINDS: Mapping[type, str] = {CheckConstraint: "check", UniqueConstraint: "unique"}


@checks.register(checks.Tags.database, deploy=True)
def check_constraints(
    databases: Iterable[str] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Warn of each lost constraint; with --deploy only, since migrate may be about to add it."""
    return [
        checks.Warning(f"The database has lost {lost}.", hint=REPAIR, id="agent_access.W010")
        for alias in databases or ()
        for lost in find_lost_constraints(connections[alias])
    ]


def find_lost_constraints(database: BaseDatabaseWrapper) -> list[str]:
    """Return words for each constraint of a model that its table lacks, and does not enforce.

    A table that does not exist yet lacks none.
    """
    lost: list[str] = []
    with database.cursor() as cursor:
        tables = database.introspection.table_names(cursor)
        for model in apps.get_models(include_auto_created=True):
            if model._meta.can_migrate(database) and model._meta.db_table in tables:
                held = database.introspection.get_constraints(cursor, model._meta.db_table)
                lost += _find_lost(model, held, database)
    return [*lost, *_find_disabled(database)]


def _find_lost(model: type[Model], held: Held, database: BaseDatabaseWrapper) -> Iterator[str]:
    table = model._meta.db_table
    for what, expected in _expected_of(model, database):
        if not any(expected.items() <= each.items() for each in map(_comparable, held.values())):
            yield f"the {what} of {table}"
    for constraint in model._meta.constraints:
        kind = next((kind for of, kind in KINDS.items() if isinstance(constraint, of)), None)
        if kind and not held.get(constraint.name, {}).get(kind):
            yield f"the constraint {constraint.name} of {table}"


def _comparable(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is held; SQLite's list has a column as often as a check names it."""
    return {**held, "columns": list(dict.fromkeys(held["columns"] or ()))}


def _expected_of(
    model: type[Model], database: BaseDatabaseWrapper
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what fields declare, in words, and how to recognise it, as its name may be any."""
    key = [str(field.column) for field in model._meta.pk_fields]
    yield "primary key", {"primary_key": True, "columns": key}
    for names in model._meta.unique_together:
        columns = [str(getattr(model._meta.get_field(name), "column", name)) for name in names]
        yield f"unique ({', '.join(columns)})", {"unique": True, "columns": columns}
    for field in model._meta.local_concrete_fields:
        column = str(field.column)
        if field.unique and not field.primary_key:
            yield f"unique {column}", {"unique": True, "columns": [column]}
        if field.db_parameters(database)["check"]:
            yield f"check of {column}", {"check": True, "columns": [column]}
        if field.remote_field and getattr(field, "db_constraint", False):
            target: Any = field.target_field  # type: ignore[attr-defined]  # a foreign key has it
            named = (target.model._meta.db_table, target.column)
            yield f"foreign key {column}", {"foreign_key": named, "columns": [column]}


def _find_disabled(database: BaseDatabaseWrapper) -> Iterator[str]:
    """Yield the tables whose foreign keys PostgreSQL keeps but does not enforce."""
    if database.vendor != "postgresql":
        return
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
            " WHERE tgisinternal AND tgenabled <> 'O' AND pg_table_is_visible(tgrelid)"
            " ORDER BY relname"
        )
        for (table,) in cursor.fetchall():
            yield f"the enforcement of foreign keys of {table}"
