"""System checks of what is fine on a developer's machine and dangerous in production."""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import connections

from agent_access import conf
from agent_access.checks import is_local_only
from agent_access.database.schema import lacks_migrations, predates_squash
from config.operations.readiness import CacheGoneError, try_cache
from config.operations.static_files import find_fault

# The last state with the migrations that those of today took the place of.
LAST_UNSQUASHED = "7fc2028"
SQLITE = "django.db.backends.sqlite3"

# Owners and superusers may do all of this; the service's role need not and should not. Who makes a
# function, an operator or a table of the right name can deceive a trigger.
MAY_TAMPER = """
    SELECT has_schema_privilege(current_schema(), 'CREATE')
        OR has_database_privilege(current_database(), 'TEMPORARY')
        OR EXISTS (
            SELECT 1 FROM pg_tables WHERE schemaname = current_schema()
            AND has_table_privilege(format('%I.%I', schemaname, tablename), 'TRUNCATE, TRIGGER')
        )
"""


@checks.register(checks.Tags.security, deploy=True)
def check_address(**kwargs: Any) -> list[checks.CheckMessage]:
    if not is_local_only():
        return []
    return [
        checks.Warning(
            "BASE_URL is this machine, so requests from any other are refused.",
            hint="Set BASE_URL to the address that people and agents use.",
            id="operations.W005",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_database(**kwargs: Any) -> list[checks.CheckMessage]:
    if is_local_only() or settings.DATABASES["default"]["ENGINE"] != SQLITE:
        return []
    return [
        checks.Warning(
            "SQLite is for one machine, and only one process writes at a time.",
            hint="Set DATABASE_URL to a PostgreSQL database.",
            id="operations.W001",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_metrics(**kwargs: Any) -> list[checks.CheckMessage]:
    if not settings.METRICS_ADDRESS or not _is_open(settings.METRICS_ADDRESS):
        return []
    return [
        checks.Warning(
            "Anybody who reaches this machine can read the metrics.",
            hint="Set METRICS_ADDRESS to a loopback address, or one of a private network.",
            id="operations.W002",
        )
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_proxies(**kwargs: Any) -> list[checks.CheckMessage]:
    if conf.trusted_proxies() and is_local_only():
        return [
            checks.Warning(
                "BASE_URL is this machine, so no proxy is in front: callers can claim any address.",
                hint="Set TRUSTED_PROXIES to 0, or BASE_URL to the address of the proxy.",
                id="operations.W003",
            )
        ]
    if conf.trusted_proxies() or is_local_only():
        return []
    return [
        checks.Info(
            "No proxy is trusted, so this service must terminate TLS itself.",
            hint="Behind a proxy that does, set TRUSTED_PROXIES to 1.",
            id="operations.I001",
        )
    ]


@checks.register(checks.Tags.staticfiles, deploy=True)
def check_static_files(**kwargs: Any) -> list[checks.CheckMessage]:
    fault = find_fault()
    return [checks.Error(fault[0], hint=fault[1], id="operations.E003")] if fault else []


@checks.register(checks.Tags.database, deploy=True)
def check_tables(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.Error]:
    """Require tables; deploy=True, since migrate runs the other checks and makes the tables."""
    if not databases or not lacks_migrations():
        return []
    return [
        checks.Error(
            "The database is not up to date: tables or columns of this release are missing.",
            hint="Run manage.py migrate with the role that owns the tables.",
            id="operations.E004",
        )
    ]


@checks.register(checks.Tags.database, deploy=True)
def check_cache_answers(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Try the cache where somebody asks to try the database."""
    try:
        if databases:
            try_cache()
    except CacheGoneError as error:
        return [checks.Error(str(error), id="operations.E005")]
    return []


@checks.register(checks.Tags.database)
def check_encoding(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.Error]:
    """Require UTF-8, as others refuse some texts or count bytes; an Error stops migrate."""
    if all(map(_keeps_utf8, databases or [])):
        return []
    return [
        checks.Error(
            "The database has an encoding other than UTF-8.",
            hint="Create it with createdb --encoding=UTF8 --template=template0.",
            id="operations.E001",
        )
    ]


@checks.register(checks.Tags.database)
def check_age(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.Error]:
    """Stop a migrate that could only end in a trace."""
    if not any(predates_squash(connections[alias]) for alias in databases or []):
        return []
    return [
        checks.Error(
            "The database is too old for this release.",
            hint=f"Run manage.py migrate of commit {LAST_UNSQUASHED} first: see CHANGELOG.md.",
            id="operations.E002",
        )
    ]


@checks.register(checks.Tags.database, deploy=True)
def check_role(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    if not any(map(_may_tamper, databases or [])):
        return []
    return [
        checks.Warning(
            "The service's database role can remove or deceive what guards issued documents.",
            hint="Let another role own the tables; give this one no more than deploy/roles.sql.",
            id="operations.W004",
        )
    ]


def _is_open(address: str) -> bool:
    host = ip_address(address.rpartition(":")[0].strip("[]"))
    return host.is_unspecified or not host.is_private


def _keeps_utf8(database: str) -> bool:
    return _query_postgresql(database, "SHOW server_encoding") in {"UTF8", None}


def _may_tamper(database: str) -> bool:
    return bool(_query_postgresql(database, MAY_TAMPER))


def _query_postgresql(database: str, question: str) -> Any:
    """Return the one value that the query selects, or None on another kind of database."""
    connection = connections[database]
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute(question)
        ((value,),) = cursor.fetchall()
    return value
