"""What agents did since a moment: writes, refusals, and when each connection was used last.

Of a write its receipt is read, which is in the same transaction as its audit event: among events,
calls that only read would hide the few that wrote.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agent_access.audit import CALL_TRANSPORTS, OK
from agent_access.models import AuditEvent, ChainHead, Connection, Receipt
from agent_access.translations import Text

# So many refusals, the newest, are counted.
MOST_REFUSALS = 1000


@dataclass(frozen=True, kw_only=True)
class Write:
    """A call that wrote, by the dotted name of its tool, and the key of the record it wrote."""

    at: datetime
    connection: Connection
    tool: str
    record_id: UUID | None


@dataclass(frozen=True, kw_only=True)
class Refused:
    """How often a connection's calls of a tool ended with an error's code, and when the last did.

    If MOST_REFUSALS were counted there may be more, and older ones.
    """

    connection_id: UUID
    tool: str
    code: str
    count: int
    last_at: datetime


def connections_since(user: Any, since: datetime) -> list[Connection]:
    """Return the person's connections that an agent could use at some time since then."""
    usable = Connection.objects.filter(user=user, expires_at__gt=since)
    return list(usable.filter(Q(revoked_at=None) | Q(revoked_at__gt=since)).order_by("id"))


def read_writes(connections: Collection[Connection], *, since: datetime, most: int) -> list[Write]:
    """Return what these connections wrote since then, the newest first."""
    known = {each.pk: each for each in connections}
    receipts = Receipt.objects.filter(connection__in=known, created_at__gte=since)
    newest = receipts.order_by("-created_at", "-id")
    rows = newest.values_list("created_at", "connection", "tool", "record_id")[:most]
    return [
        Write(at=at, connection=known[connection], tool=tool, record_id=record_id)
        for at, connection, tool, record_id in rows
    ]


def read_refusals(connection_ids: Collection[UUID], *, since: datetime) -> list[Refused]:
    """Return what these connections were refused since then, most often first."""
    events = AuditEvent.objects.filter(
        ~Q(outcome=OK),
        connection_id__in=connection_ids,
        occurred_at__gte=since,
        transport__in=CALL_TRANSPORTS,
    )
    newest = events.order_by("-occurred_at").values_list(
        "connection_id", "action", "outcome", "occurred_at"
    )
    moments: dict[tuple[UUID, str, str], list[datetime]] = {}
    for connection_id, tool, code, at in newest[:MOST_REFUSALS]:
        if connection_id is not None:
            moments.setdefault((connection_id, tool, code), []).append(at)
    found = [
        Refused(connection_id=key[0], tool=key[1], code=key[2], count=len(at), last_at=at[0])
        for key, at in moments.items()
    ]
    return sorted(found, key=lambda each: each.count, reverse=True)


def read_last_uses(connection_ids: Collection[UUID]) -> Mapping[UUID, datetime | None]:
    """Return when each connection was used last, to the minute; None for one that never was."""
    heads = ChainHead.objects.filter(chain__in=map(str, connection_ids))
    return {UUID(chain): at for chain, at in heads.values_list("chain", "last_used_at")}


@dataclass(frozen=True)
class Reason:
    """Why a call was refused, and what people can do about it: a sentence of each.

    They are read by the person whose agent it is, and by the owner.
    """

    words: Text
    advice: Text


_ASK_AGAIN = _("The agent can ask again.")

REASONS: Mapping[str, Reason] = {
    "forbidden": Reason(
        _("It was not allowed."),
        _("If it should be, the owner adds the scope, or gives the person the right."),
    ),
    "not_found": Reason(
        _("What it named is not there, or out of reach."),
        _("Tell the agent which record you mean."),
    ),
    "conflict": Reason(
        _("The record had changed, or does not allow it."),
        _("The agent can read the record again."),
    ),
    "validation_failed": Reason(
        _("Some fields were wrong."), _("The agent was told which, and can correct them.")
    ),
    "rate_limited": Reason(_("It called too often."), _("It may go on a minute later.")),
    "unavailable": Reason(
        _("The service could not finish."), _("If this goes on, tell your operator.")
    ),
    "unauthenticated": Reason(
        _("Its access had ended."), _("If it is still needed, the owner connects it again.")
    ),
    "approval_pending": Reason(
        _("Nobody had decided yet."), _("It is decided under Approvals, as long as it waits.")
    ),
    "approval_rejected": Reason(
        _("The request had been rejected."), _("Nothing needs to be done.")
    ),
    "approval_stale": Reason(_("The record changed after it asked."), _ASK_AGAIN),
    "approval_used": Reason(_("It was done already."), _("Nothing needs to be done.")),
    "approval_expired": Reason(_("The time to decide had passed."), _ASK_AGAIN),
}


def reason_of(code: str) -> Reason:
    """Return why and what to do, for an error's code; of one that is not known, the code itself."""
    return REASONS.get(code) or Reason(code, "")
