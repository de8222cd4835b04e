"""The state of a connection, in words and as a filter."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db.models import F, Q
from django.http import HttpRequest
from django.utils import timezone
from typing_extensions import override

from agent_access.admin.filters import ChoiceFilter
from agent_access.authentication import find_revocation_reason
from agent_access.models.connections import Connection, ConnectionKind, RevokedReason


class State(StrEnum):
    LIVE = "live"
    EXPIRED = "expired"
    ENDED = "ended"


@dataclass(frozen=True)
class Status:
    """The state, and for a connection that was revoked, or will be at its next call, why."""

    state: State
    reason: RevokedReason | None = None

    @property
    def words(self) -> str:
        """The reason in words; empty if there is none."""
        return str(self.reason.label) if self.reason else ""


def read_status(connection: Connection, *, owner_id: UUID | None, now: datetime) -> Status:
    """Return the status of a connection that is loaded with its user.

    What ends a connection may be recorded only when it is used next; the owner sees it before.
    """
    if _was_revoked_early(connection, now=now):
        return Status(State.ENDED, RevokedReason(connection.revoked_reason))
    if now >= connection.expires_at:
        return Status(State.EXPIRED)
    if coming := find_revocation_reason(connection, owner_id=owner_id):
        return Status(State.ENDED, coming)
    return Status(State.LIVE)


def _was_revoked_early(connection: Connection, *, now: datetime) -> bool:
    """Tell whether it was revoked before it expired; a switch revokes expired ones too.

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


def format_connections(count: int) -> str:
    """Return the number with its noun: "1 connection", "3 connections"."""
    return f"{count} connection{'' if count == 1 else 's'}"


class StateFilter(ChoiceFilter):
    title = "state"
    parameter_name = "state"

    @override
    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(state.value, state.capitalize()) for state in State]

    @override
    def condition(self, chosen: str) -> Q:
        return condition_of(State(chosen), now=timezone.now())


class KindFilter(ChoiceFilter):
    title = "kind"
    parameter_name = "kind"
    column = "kind"

    @override
    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(str(value), str(label)) for value, label in ConnectionKind.choices]
