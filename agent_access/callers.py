"""Who calls: all that a call's checks need to know of the caller now, in one statement."""

from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings as project
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Group, Permission, PermissionsMixin
from django.contrib.contenttypes.models import ContentType
from django.db import connection as database
from django.utils.module_loading import import_string

from agent_access import approvers, conf
from agent_access.database.selected import Selected, quote
from agent_access.keys import to_key, user_key_kind
from agent_access.models import AccessSettings, Connection

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
# The methods by which that backend reads permissions.
READING = (
    "_get_group_permissions",
    "_get_permissions",
    "_get_user_permissions",
    "get_all_permissions",
    "get_group_permissions",
    "get_user_permissions",
)
# The attribute of a user in which that backend caches permissions.
PERMISSION_CACHE = "_perm_cache"

CALLER = """
    SELECT {columns}, {approver}, {permissions}
    FROM {connections} AS held
    JOIN {users} AS person ON person.{key} = held.user_id
    LEFT JOIN {settings} AS switches ON switches.id = {only_id}
    {join_approver}
    WHERE held.{wanted} = %s
"""
# The user's own and those of their groups; as JSON, since a codename may hold any character.
PERMISSIONS = """(
    SELECT CAST({many}(kind.app_label || '.' || permission.codename) AS text)
    FROM {permissions} AS permission
    JOIN {content_types} AS kind ON kind.id = permission.content_type_id
    WHERE permission.id IN (
        SELECT own.permission_id FROM {own} AS own WHERE own.{own_key} = person.{key}
        UNION
        SELECT shared.permission_id FROM {of_groups} AS shared
        JOIN {groups} AS member ON member.group_id = shared.group_id
        WHERE member.{groups_key} = person.{key}
    )
)"""

JOIN_APPROVER = "LEFT JOIN {users} AS approver ON approver.{key} = {approver_key}"
# The number that the UUID of an integer key stands for (`keys`), from its last 16 digits.
POSTGRESQL_NUMBER = "('x' || translate(right(held.owner_id::text, 17), '-', ''))::bit(64)::bigint"

# By vendor: the function that makes a JSON array of rows.
JSON_ARRAY = {"postgresql": "json_agg", "sqlite": "json_group_array"}

CONNECTIONS = Selected(Connection)
SETTINGS = Selected(AccessSettings)


@dataclass(frozen=True)
class Caller:
    """A connection with its user, whose permissions are cached, and the switches.

    `is_approved` says whether its approver may still approve it. `read_at` is when all of it was
    read, in seconds of the monotonic clock.
    """

    connection: Connection
    settings: AccessSettings
    is_approved: bool
    read_at: float


def find_caller(**wanted: Any) -> Caller | None:
    """Return the caller whose connection has this value in a unique column, such as `id=`."""
    ((column, value),) = wanted.items()
    read_at = monotonic()
    with database.cursor() as cursor:
        cursor.execute(_statement(column, cursor.db.vendor), [CONNECTIONS.adapt(column, value)])
        row = cursor.fetchone()
    return row and _read(row, read_at)


def forget_permissions(user: Any) -> None:
    """Drop the user's cached permissions, so that Django reads them again."""
    vars(user).pop(PERMISSION_CACHE, None)


def permissions_may_have_changed(seen: Any, now: Any) -> bool:
    """Return whether a user's permissions may have changed between these two readings."""
    if project.AUTHENTICATION_BACKENDS != [MODEL_BACKEND]:
        return True  # only the other backends know
    known = vars(seen).get(PERMISSION_CACHE)
    return known is None or known != vars(now).get(PERMISSION_CACHE)


def _read(row: tuple[Any, ...], read_at: float) -> Caller:
    user_from = CONNECTIONS.width
    settings_from = user_from + _users().width
    approver_from = settings_from + SETTINGS.width
    connection = CONNECTIONS.read(row[:user_from])
    connection.user = _users().read(row[user_from:settings_from])
    if _statement_has_permissions():
        vars(connection.user)[PERMISSION_CACHE] = set(orjson.loads(row[-1] or "[]"))
    switches = row[settings_from:approver_from]
    # No row of settings is a row of nulls here, and means that everything is off.
    settings = AccessSettings() if switches[0] is None else SETTINGS.read(switches)
    is_approved = _is_approved(connection, row[approver_from:-2], sole_approver=row[-2])
    return Caller(connection, settings, is_approved, read_at)


def _is_approved(
    connection: Connection, approver_row: tuple[Any, ...], *, sole_approver: Any
) -> bool:
    if _sole_approver_is_in_statement():
        return approvers.read_key(sole_approver) == connection.owner_id
    if not approver_row:
        return connection.id in approvers.find_approved([connection])
    approver = _users().read(approver_row)
    if to_key(approver.pk) != connection.owner_id:  # nobody, if the user is gone
        return False
    return approvers.may_approve(approver) and approvers.may_connect(approver, connection.user)


def forget_statements() -> None:
    """Forget what is kept of the project's settings, as when a test changes them."""
    for kept in (_statement, _sole_approver_is_in_statement, _statement_has_permissions):
        kept.cache_clear()


@cache
def _users() -> Selected[Any]:
    return Selected(get_user_model())


@cache
def _sole_approver_is_in_statement() -> bool:
    return approvers.sole_approver_is_told()


@cache
def _statement_has_permissions() -> bool:
    """Return whether the statement reads the permissions in Django's tables, too.

    Django asks its own backend, which finds them read already, and then the others. One that is
    made of Django's own, but gives permissions of its own, would take them for all that it gives.
    """
    backends = [import_string(name) for name in project.AUTHENTICATION_BACKENDS]
    alike = [each for each in backends if issubclass(each, ModelBackend)]
    has_tables = issubclass(get_user_model(), PermissionsMixin)
    return has_tables and bool(alike) and all(map(_reads_as_django, alike))


def _reads_as_django(backend: type[ModelBackend]) -> bool:
    return all(getattr(backend, name) is getattr(ModelBackend, name) for name in READING)


def _find_approver_key(vendor: str) -> str | None:
    """Return the SQL of the approver's primary key, or None where the statement has no use of it.

    SQLite cannot tell the number that a UUID stands for.
    """
    if _sole_approver_is_in_statement():
        return None
    if user_key_kind() is UUID:
        return "held.owner_id"
    return POSTGRESQL_NUMBER if vendor == "postgresql" else None


@cache
def _statement(wanted: str, vendor: str) -> str:
    users, approver_key = _users(), _find_approver_key(vendor)
    selected = [CONNECTIONS.columns("held"), users.columns("person"), SETTINGS.columns("switches")]
    join = ""
    if approver_key:
        selected.append(users.columns("approver"))
        join = JOIN_APPROVER.format(users=users.table, key=users.key, approver_key=approver_key)
    return CALLER.format(
        columns=", ".join(selected),
        approver=f"({conf.policy().sole_approver_sql() or 'NULL'})",
        permissions=_permissions_subquery(vendor) if _statement_has_permissions() else "NULL",
        connections=CONNECTIONS.table,
        users=users.table,
        key=users.key,
        settings=SETTINGS.table,
        only_id=AccessSettings.ONLY_ID,
        join_approver=join,
        wanted=wanted,
    )


def _permissions_subquery(vendor: str) -> str:
    users = _users()
    own = users.model._meta.get_field("user_permissions")
    groups = users.model._meta.get_field("groups")
    return PERMISSIONS.format(
        many=JSON_ARRAY[vendor],
        permissions=Permission._meta.db_table,
        content_types=ContentType._meta.db_table,
        own=quote(own.m2m_db_table()),
        own_key=quote(own.m2m_column_name()),
        of_groups=Group._meta.get_field("permissions").m2m_db_table(),
        groups=quote(groups.m2m_db_table()),
        groups_key=quote(groups.m2m_column_name()),
        key=users.key,
    )
