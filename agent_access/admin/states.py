"""The state of connections and how much they were used lately, for a whole page at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, F, Q, TextChoices
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy, ngettext
from typing_extensions import override

from agent_access.admin.filters import ChoiceFilter
from agent_access.approvers import find_approved
from agent_access.audit import CALL_TRANSPORTS
from agent_access.authentication import find_revocation_reason
from agent_access.models import AuditEvent, ChainHead, Connection, ConnectionKind, RevokedReason


class State(TextChoices):
    LIVE = "live", gettext_lazy("Live")
    EXPIRED = "expired", gettext_lazy("Expired")
    ENDED = "ended", gettext_lazy("Ended")


@dataclass(frozen=True)
class Usage:
    """A connection's state, and its use: the last to the minute, and calls in the last 24 hours.

    `reason` is why it was revoked, or will be at its next call.
    """

    state: State
    reason: RevokedReason | None
    last_used_at: datetime | None
    calls_in_a_day: int

    @property
    def words(self) -> str:
        """The reason in words; empty if there is none."""
        return str(self.reason.label) if self.reason else ""


def read_usage(connections: Sequence[Connection]) -> list[Usage]:
    """Return the usage of each connection, loaded with its user, in three queries."""
    now, approved = timezone.now(), find_approved(connections)
    ids = [each.id for each in connections]
    last, calls = _last_used(ids), _count_calls(ids, since=now - timedelta(days=1))
    return [
        Usage(
            *_read_state(each, is_approved=each.id in approved, now=now),
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


def _read_state(
    connection: Connection, *, is_approved: bool, now: datetime
) -> tuple[State, RevokedReason | None]:
    """Return the state, and the reason of one that has ended.

    What ends a connection may be recorded only when it is used next; the owner sees it before.
    """
    if _was_revoked_early(connection, now=now):
        return State.ENDED, RevokedReason(connection.revoked_reason)
    if now >= connection.expires_at:
        return State.EXPIRED, None
    coming = find_revocation_reason(connection, is_approved=is_approved)
    return (State.ENDED if coming else State.LIVE), coming


def _was_revoked_early(connection: Connection, *, now: datetime) -> bool:
    """Return whether it was revoked before it expired; a switch revokes expired ones too.

    A clock that was ahead may have recorded a time after the expiry.
    """
    revoked_at, expires_at = connection.revoked_at, connection.expires_at
    return revoked_at is not None and (revoked_at < expires_at or now < expires_at)


def condition_of(state: State, *, now: datetime) -> Q:
    """Return the condition, for queries, of connections recorded as being in this state."""
    early = Q(revoked_at__lt=F("expires_at")) | Q(revoked_at__isnull=False, expires_at__gt=now)
    conditions = {
        State.LIVE: Connection.live_at(now),
        State.EXPIRED: Q(expires_at__lte=now) & (Q(revoked_at=None) | ~early),
        State.ENDED: early,
    }
    return conditions[state]


def tell_ended(count: int) -> str:
    """Return how many connections ended: "1 connection ended.", "3 connections ended."."""
    said = ngettext("%(count)d connection ended.", "%(count)d connections ended.", count)
    return said % {"count": count}


class StateFilter(ChoiceFilter):
    title = gettext_lazy("state")
    parameter_name = "state"

    @override
    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(state.value, str(state.label)) for state in State]

    @override
    def condition(self, chosen: str) -> Q:
        return condition_of(State(chosen), now=timezone.now())


class KindFilter(ChoiceFilter):
    title = gettext_lazy("kind")
    parameter_name = "kind"
    column = "kind"

    @override
    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(str(value), str(label)) for value, label in ConnectionKind.choices]
