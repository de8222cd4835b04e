"""What the owner sees besides: all connections in use, and whether the audit was verified."""

from collections import Counter
from datetime import UTC, datetime, time, timedelta
from typing import Any

from babel.dates import format_timedelta

from agent_access.activity import read_last_uses, read_refusals
from agent_access.connections import live_connections
from agent_access.models import AccessSettings, Connection
from invoicing.languages import locale_of, page_language
from invoicing.models import User
from invoicing.paper.formats import format_day, format_instant, local_date

CONNECTIONS_SHOWN = 6
# So many connections, the first to expire, are looked at.
CONNECTIONS_READ = 100
NEVER = datetime.min.replace(tzinfo=UTC)
# The audit is to be verified daily; what is older says so.
SOON = timedelta(days=3)
OLD = timedelta(days=7)
OLD_BACKUP = timedelta(days=2)


def describe_for_owner(user: User, local: datetime) -> dict[str, Any]:
    """Describe the live connections, those used last first, and the state of the audit."""
    since = datetime.combine(local.date(), time.min, local.tzinfo)
    live = live_connections()
    read = list(live.select_related("user").order_by("expires_at", "id")[:CONNECTIONS_READ])
    ids = [each.pk for each in read]
    uses = read_last_uses(ids)
    refused: Counter[Any] = Counter()
    for each in read_refusals(ids, since=since):
        refused[each.connection_id] += each.count
    read.sort(key=lambda each: uses.get(each.pk) or NEVER, reverse=True)
    rows = [
        {
            "connection": each,
            "last_use": format_instant(uses.get(each.pk), user),
            "refused": refused[each.pk],
            "expires": format_day(local_date(each.expires_at, user)),
        }
        for each in read[:CONNECTIONS_SHOWN]
    ]
    settings = AccessSettings.read()
    return {
        "access_on": settings.access_on,
        "connections": rows,
        "count": live.count(),
        "next": _describe_next(read, user, local),
        "audit": _describe_audit(settings, user, local),
        "backup": _describe_backup(settings, user, local),
    }


def _describe_next(read: list[Connection], user: User, local: datetime) -> dict[str, Any] | None:
    """Describe the connection that expires first."""
    first = min(read, key=lambda each: each.expires_at, default=None)
    if first is None:
        return None
    return {
        "connection": first,
        "at": format_instant(first.expires_at, user),
        "is_soon": first.expires_at - local < SOON,
    }


def _describe_audit(settings: AccessSettings, user: User, local: datetime) -> dict[str, Any]:
    verified_at = settings.audit_verified_at
    return {
        "at": format_instant(verified_at, user),
        "broken": settings.chains_broken or 0,
        "is_old": verified_at is None or local - verified_at > OLD,
    }


def _describe_backup(settings: AccessSettings, user: User, local: datetime) -> dict[str, Any]:
    """Describe the last backup that an operator told of; `at` is empty if there was none."""
    at = settings.backed_up_at
    if at is None:
        return {"at": ""}
    age = local - at
    locale = locale_of(page_language())
    return {
        "at": format_instant(at, user),
        "age": format_timedelta(-age, add_direction=True, locale=locale),
        "is_old": age > OLD_BACKUP,
    }
