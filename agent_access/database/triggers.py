"""Keeps the database triggers of an app as its SQL files define them (ADR 5).

An app has a folder `sql` with one file per database, `triggers.postgresql.sql` and
`triggers.sqlite.sql`. A line that begins with `CREATE` begins a statement, a line that begins
with `--` is a comment. Statements are

    CREATE TRIGGER name ... ON table ...
    CREATE FUNCTION name() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
        AS $$body$$

with the functions, which only PostgreSQL has, first. What several tables have alike stands once,
behind a line and up to the next comment:

    FOR EACH OF notes_page 'page', notes_tag 'tag':

gives {table} and {noun} these values in turn. A body names a table as {schema}.table, the schema of
the project's tables: the fixed path keeps out whatever others make in that schema. The file is
compared with what the database holds, letter by letter: a SQLite trigger as it was typed, a
function by its path and body, a PostgreSQL trigger in the form that pg_get_triggerdef(oid, true)
prints, on one line.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import AppConfig
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_migrate, pre_migrate

POSTGRESQL = "postgresql"
SQLITE = "sqlite"

REPAIR = (
    "manage.py migrate installs it. If a migrate of this release has ended before, somebody has"
    " changed the database since: find out who, and what they did meanwhile."
)

TRIGGER = "TRIGGER"
FUNCTION = "FUNCTION"

_FOR_EACH = re.compile(r"^FOR EACH OF (.+):\n(.*?)(?=^--|\Z)", re.MULTILINE | re.DOTALL)
_TABLE_AND_NOUN = re.compile(r"(\w+) '(.+?)'")
_COMMENT = re.compile(r"^--.*\n?", re.MULTILINE)
_BEGINNING = re.compile(r"^(?=CREATE )", re.MULTILINE)
_SCHEMA = "{schema}"
_HEAD = re.compile(r"CREATE (TRIGGER|FUNCTION) (\w+)")
_TABLE = re.compile(r"\bON (\w+)")
# A setting, its value, and the body.
_FUNCTION = re.compile(r"SET (\w+) = ([\w, ]+?)\s+AS \$\$(.*)\$\$", re.DOTALL)


# What a database holds, by vendor: kind, name and definition of each trigger and trigger function.
# A disabled trigger is read as an empty text, which equals no definition.
_HELD = {
    SQLITE: "SELECT 'TRIGGER', name, sql FROM sqlite_master WHERE type = 'trigger'",
    POSTGRESQL: """
        SELECT 'TRIGGER', tgname,
               CASE tgenabled WHEN 'O' THEN pg_get_triggerdef(pg_trigger.oid, true) ELSE '' END
          FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
         WHERE NOT tgisinternal AND pg_table_is_visible(tgrelid)
         UNION ALL
        SELECT 'FUNCTION', proname, concat(array_to_string(proconfig, ', '), prosrc)
          FROM pg_proc
         WHERE prorettype = 'trigger'::regtype AND pg_function_is_visible(oid)
    """,
}

VENDORS = tuple(_HELD)

# The SQL folders of all apps.
installed_folders: list[Path] = []


class CreateStatement(NamedTuple):
    """One trigger or trigger function of a file.

    `definition` is what the database stores of it: of a function its setting and body.
    """

    kind: str
    name: str
    table: str
    sql: str
    definition: str

    @property
    def identity(self) -> tuple[str, str]:
        """Kind and name, unique in a database."""
        return self.kind, self.name


def keep_installed(app: AppConfig, *, check_id: str) -> None:
    """Install the app's triggers after every migrate, and warn where the database differs.

    The check warns and does not fail: migrate runs it first, and migrate is the repair.
    """
    folder = Path(app.path) / "sql"
    installed_folders.append(folder)

    def install_after_migrate(*, using: str, **kwargs: Any) -> None:
        if connections[using].vendor in VENDORS:
            install(connections[using], folder)

    def drop_before_migrate(*, using: str, plan: list[Any], **kwargs: Any) -> None:
        _require_known_vendor(using)
        # To alter a table on SQLite, Django recreates it, which fails while triggers name it.
        if plan and connections[using].vendor == SQLITE:
            drop(connections[using], folder)

    def check_triggers(*, databases: Iterable[str] | None = None, **kwargs: Any) -> list[Any]:
        return [
            checks.Warning(difference, hint=REPAIR, id=check_id)
            for alias in databases or ()
            if connections[alias].vendor in VENDORS
            for difference in find_differences(connections[alias], folder)
        ]

    post_migrate.connect(install_after_migrate, sender=app, weak=False)
    pre_migrate.connect(drop_before_migrate, sender=app, weak=False)
    checks.register(check_triggers, checks.Tags.database)


def _require_known_vendor(using: str) -> None:
    """Raise ImproperlyConfigured for a default database that has no triggers of ours.

    Other databases of a project hold no table of ours, or none that is used.
    """
    vendor = connections[using].vendor
    if using == DEFAULT_DB_ALIAS and vendor not in VENDORS:
        raise ImproperlyConfigured(f"Agent access needs PostgreSQL or SQLite, not {vendor}.")


def install(connection: BaseDatabaseWrapper, folder: Path) -> None:
    """Install the triggers of the file; if they are in place already, no table is locked."""
    if not find_differences(connection, folder):
        return
    if connection.vendor == POSTGRESQL:
        _replace_what_differs(connection, folder)
        return
    with transaction.atomic(using=connection.alias):
        drop(connection, folder)
        with connection.cursor() as cursor:
            for statement in _read_statements(connection, folder):
                cursor.execute(statement.sql)


def _replace_what_differs(connection: BaseDatabaseWrapper, folder: Path) -> None:
    """Replace functions and triggers, of one table at a time, so that none is ever missing.

    The service may be serving meanwhile: no transaction here locks two tables, for which it could
    wait while one of the service's waits for it.
    """
    statements = _read_statements(connection, folder)
    by_table: dict[str, list[str]] = {}
    for table, trigger in _find_obsolete(connection, statements):
        by_table.setdefault(table, []).append(f"DROP TRIGGER {trigger} ON {table}")
    definitions = _read_definitions(connection)
    with connection.cursor() as cursor:
        for statement in statements:
            if definitions.get(statement.identity) == statement.definition:
                continue
            replacement = statement.sql.replace("CREATE ", "CREATE OR REPLACE ", 1)
            if statement.kind == FUNCTION:  # locks no table
                cursor.execute(replacement)
            else:
                by_table.setdefault(statement.table, []).append(replacement)
        for replacements in by_table.values():
            with transaction.atomic(using=connection.alias):
                for sql in replacements:
                    cursor.execute(sql)


def _find_obsolete(
    connection: BaseDatabaseWrapper, statements: Iterable[CreateStatement]
) -> list[tuple[str, str]]:
    """Return table and name of each trigger of another release that calls one of the functions."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT quote_ident(relname), quote_ident(tgname)
              FROM pg_trigger
              JOIN pg_class ON pg_class.oid = tgrelid
              JOIN pg_proc ON pg_proc.oid = tgfoid
             WHERE pg_table_is_visible(tgrelid)
               AND proname = ANY(%s) AND NOT tgname = ANY(%s)
            """,
            [
                [each.name for each in statements if each.kind == FUNCTION],
                [each.name for each in statements if each.kind == TRIGGER],
            ],
        )
        return list(cursor.fetchall())


def drop(connection: BaseDatabaseWrapper, folder: Path) -> None:
    """Drop the triggers of the file; a function that is dropped takes its triggers with it."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        for statement in _read_statements(connection, folder):
            if statement.kind == FUNCTION:
                cursor.execute(f"DROP FUNCTION IF EXISTS {statement.name}() CASCADE")
            elif connection.vendor == SQLITE:
                cursor.execute(f"DROP TRIGGER IF EXISTS {statement.name}")


def find_differences(connection: BaseDatabaseWrapper, folder: Path) -> list[str]:
    """Return one sentence for each trigger or function that is missing or not as in the file.

    A table that does not exist yet misses no trigger.
    """
    definitions = _read_definitions(connection)
    differences = []
    for statement in _read_statements(connection, folder):
        if definitions.get(statement.identity) != statement.definition:
            is_there = statement.identity in definitions
            problem = "is not the one of this release" if is_there else "is missing"
            kind = statement.kind.lower()
            differences.append(f"The database {kind} {statement.name} {problem}.")
    return differences


def lacks_triggers(connection: BaseDatabaseWrapper) -> bool:
    """Return whether a trigger of any app is missing or disabled, as after an interrupted migrate.

    One that differs is no fault: another version has installed it.
    """
    definitions = _read_definitions(connection)
    return any(
        not definitions.get(statement.identity)
        for folder in installed_folders
        for statement in _read_statements(connection, folder)
    )


def _read_statements(connection: BaseDatabaseWrapper, folder: Path) -> list[CreateStatement]:
    """Return the file's statements for the tables that exist, and none where none does."""
    text = (folder / f"triggers.{connection.vendor}.sql").read_text(encoding="utf-8")
    text = _FOR_EACH.sub(_repeat, text)
    if _SCHEMA in text:
        text = text.replace(_SCHEMA, _find_schema(connection))
    tables = connection.introspection.table_names()
    blocks = (block.strip() for block in _BEGINNING.split(_COMMENT.sub("", text)))
    statements = [_parse(block) for block in blocks if block]
    found = [each for each in statements if each.kind == FUNCTION or each.table in tables]
    return found if any(each.table for each in found) else []


def _repeat(template: re.Match[str]) -> str:
    return "".join(
        template[2].replace("{table}", table).replace("{noun}", noun)
        for table, noun in _TABLE_AND_NOUN.findall(template[1])
    )


def _find_schema(connection: BaseDatabaseWrapper) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(current_schema())")
        return str(cursor.fetchone()[0])


def _parse(block: str) -> CreateStatement:
    head = _HEAD.match(block)
    if head is None:
        raise ValueError(f"not a CREATE TRIGGER or CREATE FUNCTION statement: {block}")
    kind, name = head.groups()
    sql = block.removesuffix(";")
    if kind == TRIGGER:
        table = _TABLE.findall(sql)[0]
        return CreateStatement(kind, name, table, sql, definition=sql)
    function = _FUNCTION.search(sql)
    if function is None:
        raise ValueError(f"a function without its search_path: {block}")
    return CreateStatement(kind, name, "", sql, "{}={}{}".format(*function.groups()))


def _read_definitions(connection: BaseDatabaseWrapper) -> dict[tuple[str, str], str]:
    with connection.cursor() as cursor:
        cursor.execute(_HELD[connection.vendor])
        return {(kind, name): definition for kind, name, definition in cursor.fetchall()}
