"""How much connections were used lately, read for a whole page at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count
from django.utils import timezone

from agent_access import conf
from agent_access.admin.states import Status, read_status
from agent_access.audit import CALL_TRANSPORTS
from agent_access.models import AuditEvent, ChainHead, Connection


@dataclass(frozen=True)
class Usage:
    """A connection's status, its last use to the minute, and its calls in the last 24 hours."""

    status: Status
    last_used_at: datetime | None
    calls_in_a_day: int


def read_usage(connections: Sequence[Connection]) -> list[Usage]:
    """Return the usage of each connection, loaded with its user, in three queries."""
    now, owner_id = timezone.now(), conf.host().owner_id()
    ids = [each.id for each in connections]
    last, calls = _last_used(ids), _count_calls(ids, since=now - timedelta(days=1))
    return [
        Usage(
            read_status(each, owner_id=owner_id, now=now),
            last.get(str(each.id)),
            calls.get(each.id, 0),
        )
        for each in connections
    ]


def _last_used(ids: Iterable[UUID]) -> dict[str, datetime | None]:
    heads = ChainHead.objects.filter(chain__in=map(str, ids))
    return dict(heads.values_list("chain", "last_used_at"))


def _count_calls(ids: Iterable[UUID], *, since: datetime) -> dict[UUID | None, int]:
    recent = AuditEvent.objects.filter(
        connection_id__in=list(ids), occurred_at__gt=since, transport__in=CALL_TRANSPORTS
    )
    return dict(recent.values_list("connection_id").annotate(Count("id")))
