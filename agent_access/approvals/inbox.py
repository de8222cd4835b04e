"""A person's inbox: a card for each thing to decide now, and all that was asked before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from agent_access import waiting
from agent_access.approvals.engine import read_approvals
from agent_access.approvals.kinds import ApprovalKind, kinds
from agent_access.approvals.models import ApprovalQuerySet, ApprovalRequest
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.connections import ended_connections
from agent_access.keys import to_key

__all__ = ["Waiting", "find_waiting"]

PAGE_LENGTH = 25
# Every page of a person counts what waits for them, and the inbox what they missed.
MOST_COUNTED = 99

# Approvals, and the cursor of the following page, or None on the last one.
InboxPage = tuple[list[ApprovalSnapshot], UUID | None]


def visible_to(user: Any) -> ApprovalQuerySet:
    """Return the approvals asked of this person whose target they see."""
    return ApprovalRequest.objects.asked_of(user).filter(
        _any_of(_of(kind) & kind.sees(user) for kind in kinds)
    )


def cards_for(user: Any, *, now: datetime) -> ApprovalQuerySet:
    """Return what waits for the person's decision, by what SQL can tell: a card each.

    However often a connection asks for the same, its newest request alone is there. Nothing waits
    for a connection that has ended, since that can execute nothing any more. One that is stale by
    what no query of its kind tells waits among them, as stale, until it expires: every page counts
    them. An approval whose target the person cannot see is in no list; by its link it can be
    rejected, no more.
    """
    cards = visible_to(user).standing().undecided_at(now).filter(_is_current())
    return cards.exclude(by_ended_connections(user))


def _is_current() -> Q:
    return _any_of(_of(kind) & kind.is_current() for kind in kinds)


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
    """How much a person is asked to decide, and when the latest of the approvals was prepared.

    What is beyond MOST_COUNTED is not counted.
    """

    count: int
    is_more: bool
    latest_at: datetime | None

    @property
    def shown(self) -> str:
        return f"{self.count}+" if self.is_more else str(self.count)

    @property
    def latest(self) -> str:
        """The instant as a text that sorts like it, or an empty one."""
        return self.latest_at.isoformat(timespec="microseconds") if self.latest_at else ""


def find_waiting(user: Any) -> Waiting:
    """Return what waits for the person now: cards of approvals, and what other apps ask."""
    now = timezone.now()
    prepared = _read_prepared(user, now=now)
    count = len(prepared) + len(find_told(user, now=now))
    return Waiting(
        count=min(count, MOST_COUNTED),
        is_more=count > MOST_COUNTED,
        latest_at=max(prepared, default=None),
    )


def _read_prepared(user: Any, *, now: datetime) -> list[datetime]:
    """Return when the cards were prepared: of those that expire last, one more than is counted."""
    # Every page asks, and mostly nothing waits: that is told by one plain query.
    if not ApprovalRequest.objects.asked_of(user).standing().undecided_at(now).exists():
        return []
    cards = cards_for(user, now=now).order_by("-expires_at", "-pk")
    return list(cards.values_list("prepared_at", flat=True)[: MOST_COUNTED + 1])


def find_told(user: Any, *, now: datetime) -> list[waiting.Told]:
    """Return what apps other than this one ask the person, the first to end first."""
    told = (
        each
        for subject in waiting.subjects.values()
        for each in subject.find_pending(user, now=now)
    )
    return sorted(told, key=lambda each: each.expires_at)


def read_cards(user: Any, *, after: UUID | None, now: datetime) -> InboxPage:
    """Return a page of the cards, the first to expire first."""
    rows, here = cards_for(user, now=now), _find(user, after)
    if here:
        rows = rows.filter(_later_than(here))
    return _read_page(rows.order_by("expires_at", "pk"), now=now)


def read_around(
    user: Any, approval: ApprovalRequest, *, now: datetime
) -> tuple[InboxPage, InboxPage]:
    """Return the cards before an approval and after it, the nearest first: a page of each."""
    cards = cards_for(user, now=now)
    before = cards.filter(_earlier_than(approval)).order_by("-expires_at", "-pk")
    after = cards.filter(_later_than(approval)).order_by("expires_at", "pk")
    page_before, page_after = _read_pages(before, after, now=now)
    return page_before, page_after


def read_others(user: Any, *, before: UUID | None, now: datetime) -> InboxPage:
    """Return a page of the approvals that are no cards, the last to expire first.

    Those that a newer one replaced are left out, unless they were approved.
    """
    rows, here = visible_to(user).standing(), _find(user, before)
    if here:
        rows = rows.filter(_earlier_than(here))
    is_over = ~Q(decision="") | Q(expires_at__lte=now) | ~_is_current()
    others = rows.filter(is_over | Q(by_ended_connections(user)))
    return _read_page(others.order_by("-expires_at", "-pk"), now=now)


def read_missed(user: Any, *, before: UUID | None, now: datetime) -> InboxPage:
    """Return a page of the approvals that the person missed lately, the last to expire first."""
    rows, here = _missed_by(user, now=now), _find(user, before)
    if here:
        rows = rows.filter(_earlier_than(here))
    return _read_page(rows.order_by("-expires_at", "-pk"), now=now)


def count_missed(user: Any, *, now: datetime) -> int:
    """Return how many approvals the person missed lately; above MOST_COUNTED it is only more."""
    return _missed_by(user, now=now)[: MOST_COUNTED + 1].count()


def tally(user: Any, since: datetime) -> waiting.Tally:
    """Return what waits for the person, other apps' questions included, and what they missed."""
    missed = visible_to(user).standing().missed(since=since, now=timezone.now())
    return waiting.Tally(waiting=find_waiting(user).count, missed=missed.count())


def _missed_by(user: Any, *, now: datetime) -> ApprovalQuerySet:
    return visible_to(user).standing().missed(since=now - waiting.MISSED_FOR, now=now)


def count_missed_by_person(since: datetime) -> Mapping[Any, int]:
    """Return how many requests expired undecided since the instant, by the key of the person."""
    rows = ApprovalRequest.objects.standing().missed(since=since, now=timezone.now())
    counts = rows.order_by().values_list("delegated_user").annotate(Count("pk"))
    return {to_key(pk): count for pk, count in counts}


def _find(user: Any, pk: UUID | None) -> ApprovalRequest | None:
    return ApprovalRequest.objects.asked_of(user).filter(pk=pk).first() if pk else None


def _later_than(approval: ApprovalRequest) -> Q:
    """Return the condition that a request comes later in the order of cards."""
    at = approval.expires_at
    return Q(expires_at__gte=at) & (Q(expires_at__gt=at) | Q(pk__gt=approval.pk))


def _earlier_than(approval: ApprovalRequest) -> Q:
    at = approval.expires_at
    return Q(expires_at__lte=at) & (Q(expires_at__lt=at) | Q(pk__lt=approval.pk))


def find_newer(approval: ApprovalRequest) -> ApprovalRequest | None:
    """Return the request that stands in the inbox for one that was replaced; None if none does."""
    if approval.replaced_at is None:
        return None
    same = ApprovalRequest.objects.standing().filter(
        delegated_user=approval.delegated_user_id,
        kind=approval.kind,
        target=approval.target,
        connection_id=approval.connection_id,
    )
    return same.order_by("-pk").first()


def _read_page(rows: ApprovalQuerySet, *, now: datetime) -> InboxPage:
    [page] = _read_pages(rows, now=now)
    return page


def _read_pages(*lists: ApprovalQuerySet, now: datetime) -> list[InboxPage]:
    """Return a page of each list; the records of all are read together."""
    found = [list(rows[: PAGE_LENGTH + 1]) for rows in lists]
    shown = [rows[:PAGE_LENGTH] for rows in found]
    read = {each.approval.pk: each for each in read_approvals(chain(*shown), now=now)}
    return [
        (
            [read[row.pk] for row in page if row.pk in read],
            None if page == rows else page[-1].pk,
        )
        for page, rows in zip(shown, found, strict=True)
    ]
