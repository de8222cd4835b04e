"""A person's inbox of approvals: those to decide now, and all others."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from agent_access.approvals.engine import read_approvals
from agent_access.approvals.kinds import ApprovalKind, kinds
from agent_access.approvals.models import ApprovalQuerySet, ApprovalRequest
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.connections import ended_connections

__all__ = ["Waiting", "find_waiting"]

PAGE_LENGTH = 25

# Approvals, and the cursor of the following page, or None on the last one.
InboxPage = tuple[list[ApprovalSnapshot], UUID | None]


def visible_to(user: Any) -> ApprovalQuerySet:
    """Return the approvals asked of this person whose target they see."""
    return ApprovalRequest.objects.asked_of(user).filter(
        _any_of(_of(kind) & kind.sees(user) for kind in kinds)
    )


def pending_for(user: Any, *, now: datetime) -> ApprovalQuerySet:
    """Return the approvals in the person's reach that wait for a decision, by what SQL can tell.

    Nothing waits for a connection that has ended, since that can execute nothing any more. One that
    is stale by what no query of its kind tells waits among them, as stale, until it expires: every
    page counts them, and agents may have prepared hundreds. An approval whose target the person
    cannot see is in no list; by its link it can be rejected, no more.
    """
    current = _any_of(_of(kind) & kind.is_current() for kind in kinds)
    waiting = visible_to(user).filter(current, decision="", expires_at__gt=now)
    return waiting.exclude(by_ended_connections(user))


def by_ended_connections(user: Any) -> Exists:
    """Return the condition that the connection that asked this person has ended."""
    return Exists(ended_connections(user).filter(pk=OuterRef("connection_id")))


def _of(kind: ApprovalKind[Any]) -> Q:
    return Q(kind=kind.name)


def _any_of(conditions: Iterable[Q]) -> Q:
    """Return the condition that one of these holds; with none it holds for nothing."""
    return reduce(or_, conditions, Q(pk__in=()))


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """How many approvals wait for a person, and when the latest of them was prepared."""

    count: int
    latest_at: datetime | None

    @property
    def latest(self) -> str:
        """The instant as a text that sorts like it, or an empty one."""
        return self.latest_at.isoformat(timespec="microseconds") if self.latest_at else ""


def find_waiting(user: Any) -> Waiting:
    """Return what waits for the person now."""
    pending = pending_for(user, now=timezone.now())
    return Waiting(**pending.aggregate(count=Count("pk"), latest_at=Max("prepared_at")))


def read_pending(user: Any, *, after: UUID | None, now: datetime) -> InboxPage:
    """Return a page of the pending approvals, the first to expire first."""
    pending = pending_for(user, now=now)
    rows = pending.filter(pk__gt=after) if after else pending
    return _read_page(rows.order_by("pk"), now=now)


def read_others(user: Any, *, before: UUID | None, now: datetime) -> InboxPage:
    """Return a page of the approvals that are not pending, newest first."""
    others = visible_to(user).exclude(pk__in=pending_for(user, now=now).values("pk"))
    rows = others.filter(pk__lt=before) if before else others
    return _read_page(rows.order_by("-pk"), now=now)


def _read_page(rows: ApprovalQuerySet, *, now: datetime) -> InboxPage:
    found = list(rows[: PAGE_LENGTH + 1])
    shown = found[:PAGE_LENGTH]
    return read_approvals(shown, now=now), None if shown == found else shown[-1].pk
