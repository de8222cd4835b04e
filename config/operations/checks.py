"""System checks of what is fine on a developer's machine and dangerous in production."""

import os
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import connections

from agent_access import conf
from agent_access.checks import is_local_only
from agent_access.database.schema import lacks_migrations, predates_squash
from agent_access.operator_command import ENVIRONMENT
from config.environment import find_misspelt
from config.operations.readiness import CacheGoneError, try_cache
from config.operations.static_files import find_fault

# The last state with the migrations that those of today took the place of.
LAST_UNSQUASHED = "7fc2028"
SQLITE = "django.db.backends.sqlite3"

KINDS = {"E": checks.Error, "I": checks.Info, "W": checks.Warning}

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


Found = list[checks.CheckMessage]


def _find(number: str, is_so: object, message: str, hint: str | None) -> Found:
    """Return the message with this number if it is so."""
    return [KINDS[number[0]](message, hint=hint, id=f"operations.{number}")] if is_so else []


@checks.register(ENVIRONMENT)
def check_names(**kwargs: Any) -> Found:
    """Look at the environment itself, in which a misspelt setting has no effect."""
    return [
        checks.Warning(
            f"The variable {name} is no setting of this service, and has no effect.",
            hint=f"Name it {likely}, unless it belongs to another program.",
            id="config.W001",
        )
        for name, likely in find_misspelt(os.environ).items()
    ]


@checks.register(checks.Tags.security, deploy=True)
def check_address(**kwargs: Any) -> Found:
    return _find(
        "W005",
        is_local_only(),
        "BASE_URL is this machine, so requests from any other are refused.",
        "Set BASE_URL to the address that people and agents use.",
    )


@checks.register(checks.Tags.security, deploy=True)
def check_database(**kwargs: Any) -> Found:
    return _find(
        "W001",
        settings.DATABASES["default"]["ENGINE"] == SQLITE and not is_local_only(),
        "SQLite is for one machine, and only one process writes at a time.",
        "Set DATABASE_URL to a PostgreSQL database.",
    )


@checks.register(checks.Tags.security, deploy=True)
def check_metrics(**kwargs: Any) -> Found:
    return _find(
        "W002",
        settings.METRICS_ADDRESS and _is_open(settings.METRICS_ADDRESS),
        "Anybody who reaches this machine can read the metrics.",
        "Set METRICS_ADDRESS to a loopback address, or one of a private network.",
    )


@checks.register(checks.Tags.security, deploy=True)
def check_proxies(**kwargs: Any) -> Found:
    believed = _find(
        "W003",
        conf.trusted_proxies() and is_local_only(),
        "BASE_URL is this machine, so no proxy is in front: callers can claim any address.",
        "Set TRUSTED_PROXIES to 0, or BASE_URL to the address of the proxy.",
    )
    return believed + _find(
        "I001",
        not conf.trusted_proxies() and not is_local_only(),
        "No proxy is trusted, so this service must terminate TLS itself.",
        "Behind a proxy that does, set TRUSTED_PROXIES to 1.",
    )


@checks.register(checks.Tags.security, deploy=True)
def check_telling(**kwargs: Any) -> Found:
    found = _find(
        "I002",
        not conf.web_push_key(),
        "Nobody is told in a browser what waits for them.",
        "Set WEB_PUSH_KEY, and run manage.py deliver beside the service.",
    )
    return found + _find(
        "I003",
        not conf.mail_from(),
        "Nobody is told by mail what waits for them.",
        "Set EMAIL_URL and EMAIL_FROM, and run manage.py deliver beside the service.",
    )


@checks.register(checks.Tags.staticfiles, deploy=True)
def check_static_files(**kwargs: Any) -> Found:
    message, hint = find_fault() or ("", "")
    return _find("E003", message, message, hint)


@checks.register(checks.Tags.database, deploy=True)
def check_tables(databases: Sequence[str] | None = None, **kwargs: Any) -> Found:
    """Require tables; deploy=True, since migrate runs the other checks and makes the tables."""
    return _find(
        "E004",
        databases and lacks_migrations(),
        "The database is not up to date: tables or columns of this release are missing.",
        "Run manage.py migrate with the role that owns the tables.",
    )


@checks.register(checks.Tags.database, deploy=True)
def check_cache_answers(databases: Sequence[str] | None = None, **kwargs: Any) -> Found:
    """Try the cache where somebody asks to try the database."""
    try:
        if databases:
            try_cache()
    except CacheGoneError as error:
        return _find("E005", error, str(error), None)
    return []


@checks.register(checks.Tags.database)
def check_encoding(databases: Sequence[str] | None = None, **kwargs: Any) -> Found:
    """Require UTF-8, as others refuse some texts or count bytes; an Error stops migrate."""
    return _find(
        "E001",
        not all(map(_keeps_utf8, databases or [])),
        "The database has an encoding other than UTF-8.",
        "Create it with createdb --encoding=UTF8 --template=template0.",
    )


@checks.register(checks.Tags.database)
def check_age(databases: Sequence[str] | None = None, **kwargs: Any) -> Found:
    """Stop a migrate that could only end in a trace."""
    return _find(
        "E002",
        any(predates_squash(connections[alias]) for alias in databases or []),
        "The database is too old for this release.",
        f"Run manage.py migrate of commit {LAST_UNSQUASHED} first: see CHANGELOG.md.",
    )


@checks.register(checks.Tags.database, deploy=True)
def check_role(databases: Sequence[str] | None = None, **kwargs: Any) -> Found:
    return _find(
        "W004",
        any(map(_may_tamper, databases or [])),
        "The service's database role can remove or deceive what guards issued documents.",
        "Let another role own the tables; give this one no more than deploy/roles.sql.",
    )


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
