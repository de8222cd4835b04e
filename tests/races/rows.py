"""All rows of all tables: put back as they were staged, and told without what chance decides."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import AutoField, Model

from agent_access import audit
from agent_access.models import AuditEvent, ChainHead
from tests.races.footprints import find_models

# IDs, digests, draft codes, times and other secrets that are new in each run.
CHANCE = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|D-[0-9A-Z]{8}"
    r"|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)|md5\$\w+\$\w+|[\w-]{40,}"
)
NEW = "(new)"
# Sessions are all chance. What searches find by is compared with the records instead, which holds
# the words of new draft codes as well (flaws.py).
AUDIT = (AuditEvent._meta.db_table, ChainHead._meta.db_table)
UNTOLD = ("django_session", "invoices_searchword")

Row = tuple[Any, ...]
Facts = list[Row]


class Tables:
    """The rows as they are when this is made, in temporary copies on the caller's connection."""

    def __init__(self) -> None:
        self._models = find_models()
        with connection.cursor() as cursor:
            for table in self._models:
                cursor.execute(f"CREATE TEMPORARY TABLE copy_{table} AS TABLE {table}")
        self._counted = {
            table: set(model._base_manager.values_list("pk", flat=True))
            for table, model in self._models.items()
            if isinstance(model._meta.pk, AutoField)
        }
        raw = {table: self._read_raw(table) for table in self._models}
        self._known = _find_known(value for rows in raw.values() for row in rows for value in row)
        self._staged = {table: self._tell(table) for table in self._models if table not in UNTOLD}

    def restore(self, tables: Collection[str]) -> None:
        """Put the rows of these tables back, past triggers and keys, in one transaction."""
        if not tables:
            return
        steps = [f"DELETE FROM {each}; INSERT INTO {each} TABLE copy_{each};" for each in tables]  # noqa: S608  tables of our own
        unguarded = "PERFORM set_config('session_replication_role', 'replica', true);"
        with connection.cursor() as cursor:
            cursor.execute(f"DO $$ BEGIN {unguarded} {' '.join(steps)} END $$")

    def tell(self, tables: Collection[str]) -> Mapping[str, Facts]:
        """Return all rows, where only these tables can differ from what was staged."""
        written = {table: self._tell(table) for table in tables if table not in UNTOLD}
        return self._staged | written

    def leave_chance_out(self, text: str) -> str:
        """Return the text with a word in place of what was not there when this was made."""
        return CHANCE.sub(lambda found: found[0] if found[0] in self._known else NEW, text)

    def _tell_audit(self, table: str) -> Facts:
        """Return what was done, in the order of each chain, or the chains without their ends.

        What was refused is left out: that a call was made which began before something ended it,
        is said after that, and where it began later, its caller is not known any more.
        """
        if table == ChainHead._meta.db_table:
            return sorted(ChainHead.objects.values_list("chain", "is_open"))
        done = AuditEvent.objects.filter(outcome=audit.OK).order_by("chain", "sequence")
        columns = ("chain", "actor_id", "connection_id", "action", "target", "detail")
        rows = enumerate(done.values_list(*columns, "content_digest"))
        return [tuple(map(self._tell_value, (place, *row))) for place, row in rows]

    def _read_raw(self, table: str) -> list[Row]:
        names = ", ".join(f'"{each.column}"' for each in _columns_of(self._models[table]))
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {names} FROM {table}")  # noqa: S608  a table of our own
            return list(cursor.fetchall())

    def _tell(self, table: str) -> Facts:
        if table in AUDIT:
            return self._tell_audit(table)
        columns = _columns_of(self._models[table])
        rows = (tuple(map(self._tell_cell, columns, row)) for row in self._read_raw(table))
        return sorted(rows, key=repr)

    def _tell_cell(self, column: Any, value: Any) -> Any:
        target = column.related_model
        counted = self._counted.get(target._meta.db_table) if target else None
        if counted is not None and value is not None:
            return value if value in counted else NEW
        return self._tell_value(value)

    def _tell_value(self, value: Any) -> Any:
        match value:
            case UUID() | datetime():
                return str(value) if str(value) in self._known else NEW
            case str():
                return self.leave_chance_out(value)
            case bytes() | memoryview():
                return value.hex() if value.hex() in self._known else NEW
        return value


def _columns_of(model: type[Model]) -> list[Any]:
    """Return the columns but a counted ID, which tells only who came first."""
    return [each for each in model._meta.concrete_fields if not isinstance(each, AutoField)]


def _find_known(values: Iterable[Any]) -> frozenset[str]:
    """Return what is no chance any more, since it was staged."""
    known: set[str] = set()
    for value in values:
        match value:
            case UUID() | datetime():
                known.add(str(value))
            case str():
                known.update(found[0] for found in CHANCE.finditer(value))
            case bytes() | memoryview():
                known.add(value.hex())
    return frozenset(known)
