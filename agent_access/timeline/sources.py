"""Where acts are found, each by an index over time: writes, refusals, and what people decided."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery

from agent_access.audit import CALL_TRANSPORTS, OK
from agent_access.models import AuditEvent, Connection, Receipt, Transport
from agent_access.models.audit import BESIDE_CALLS

# What people decide about an agent's requests, as the audit names it.
DECISIONS = ("approval:approved", "approval:rejected", "approval:withdrawn")


class Kind(StrEnum):
    """What sort of thing happened."""

    WRITE = "write"
    REFUSAL = "refusal"
    DECISION = "decision"


@dataclass(frozen=True, kw_only=True)
class Act:
    """One thing that an agent did or was refused, or that its person decided.

    `action` is the dotted name of a tool, or the audit's of a decision, and `outcome` OK or the
    code of an error. `record_id` is the key of the record that was written or decided about, if
    known, and `approval_id` that of the decided request.
    """

    at: datetime
    kind: Kind
    connection_id: UUID
    action: str
    outcome: str = OK
    record_id: UUID | None = None
    approval_id: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """Rows of one kind, in the order of the column `time`, and how one is read as an act."""

    kind: Kind
    rows: Callable[[], QuerySet[Any]]
    time: str
    action: str
    columns: Sequence[str]
    read: Callable[..., Act]

    def narrow(
        self, connection_ids: Sequence[UUID] | None, *, before: datetime | None
    ) -> QuerySet[Any]:
        """Return the rows of these connections, or of all, that are older than `before`."""
        found = self.rows()
        if connection_ids is not None:
            found = found.filter(connection_id__in=connection_ids)
        return found if before is None else found.filter(**{f"{self.time}__lt": before})

    def find_floor(
        self, connection_ids: Sequence[UUID] | None, *, before: datetime | None, depth: int
    ) -> datetime | None:
        """Return the instant down to which `depth` rows of each connection reach, or None.

        None says that no connection has that many: then there is no more to be found.
        """
        if connection_ids is None:
            rows = self.narrow(None, before=before).order_by(f"-{self.time}")
            floor: datetime | None = rows.values_list(self.time, flat=True)[
                depth : depth + 1
            ].first()
            return floor
        own = self.narrow(None, before=before).filter(connection_id=OuterRef("pk"))
        nth = own.order_by(f"-{self.time}").values(self.time)[depth : depth + 1]
        known = Connection.objects.filter(pk__in=connection_ids)
        found: datetime | None = known.aggregate(floor=Max(Subquery(nth)))["floor"]
        return found


def _read_write(at: datetime, connection_id: UUID, action: str, record_id: UUID | None) -> Act:
    return Act(
        at=at, kind=Kind.WRITE, connection_id=connection_id, action=action, record_id=record_id
    )


def _read_refusal(at: datetime, connection_id: UUID, action: str, outcome: str) -> Act:
    return Act(
        at=at, kind=Kind.REFUSAL, connection_id=connection_id, action=action, outcome=outcome
    )


def _read_decision(at: datetime, connection_id: UUID, action: str, target: str, detail: str) -> Act:
    return Act(
        at=at,
        kind=Kind.DECISION,
        connection_id=connection_id,
        action=action,
        record_id=_read_key(detail),
        approval_id=_read_key(target),
    )


def _read_key(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def find_refused() -> QuerySet[AuditEvent]:
    """Return the calls of agents that were refused."""
    return AuditEvent.objects.filter(
        ~Q(outcome=OK), transport__in=CALL_TRANSPORTS, connection_id__isnull=False
    )


def find_beside_calls() -> QuerySet[AuditEvent]:
    """Return what the chains of connections hold besides calls."""
    return AuditEvent.objects.filter(BESIDE_CALLS)


SOURCES = (
    Source(
        kind=Kind.WRITE,
        rows=Receipt.objects.all,
        time="created_at",
        action="tool",
        columns=("created_at", "connection_id", "tool", "record_id"),
        read=_read_write,
    ),
    Source(
        kind=Kind.REFUSAL,
        rows=find_refused,
        time="occurred_at",
        action="action",
        columns=("occurred_at", "connection_id", "action", "outcome"),
        read=_read_refusal,
    ),
    Source(
        kind=Kind.DECISION,
        rows=lambda: find_beside_calls().filter(transport=Transport.WEB, action__in=DECISIONS),
        time="occurred_at",
        action="action",
        columns=("occurred_at", "connection_id", "action", "target", "detail"),
        read=_read_decision,
    ),
)
