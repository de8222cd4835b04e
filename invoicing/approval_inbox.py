"""A person's inbox of approvals: those to decide now, and all others."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet
from django.utils import timezone

from agent_access.connections import ended_connections
from invoicing.approval_states import ApprovalState
from invoicing.models import Decision, Document, DocumentStatus, IssueApproval, User
from invoicing.search.paging import PageRequest, cut_page, in_order
from invoicing.services.approvals import ApprovalSnapshot, read_approvals

PAGE_LENGTH = 25


# Approvals, and the cursor of the following page, or None on the last one.
InboxPage = tuple[list[ApprovalSnapshot], UUID | None]


def pending_for(user: User, *, now: datetime) -> QuerySet[IssueApproval]:
    """Return the approvals in the person's scope that wait for a decision, by what SQL can tell.

    Nothing waits for a connection that has ended, since that can issue nothing any more. One that
    is stale only because its customer, a rate or the company changed waits among them, as stale,
    until it expires: every page counts them, and agents may have prepared hundreds. An approval of
    a document that the person cannot see is in no list; by its link it can be rejected, no more.
    """
    return (
        IssueApproval.objects.visible_to(user)
        .filter(
            decision="",
            expires_at__gt=now,
            document__status=DocumentStatus.DRAFT,
            document__lock_version=F("lock_version"),
        )
        .exclude(Exists(ended_connections(user).filter(pk=OuterRef("connection_id"))))
    )


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """How many approvals wait for a person, and when the latest of them was prepared."""

    count: int
    latest_at: datetime | None

    @property
    def latest(self) -> str:
        """The instant as a text that sorts like it, or an empty one."""
        return self.latest_at.isoformat(timespec="microseconds") if self.latest_at else ""


def find_waiting(user: User) -> Waiting:
    """Return what waits for the person now."""
    pending = pending_for(user, now=timezone.now())
    return Waiting(**pending.aggregate(count=Count("pk"), latest_at=Max("prepared_at")))


def read_pending(user: User, *, after: UUID | None, now: datetime) -> InboxPage:
    """Return a page of the pending approvals, the first to expire first."""
    page = PageRequest(after=after, limit=PAGE_LENGTH)
    return _read_page(pending_for(user, now=now), page, now=now)


def read_pending_of(user: User, document: Document, *, now: datetime) -> list[ApprovalSnapshot]:
    """Return the approvals of one draft that the person can decide now, the newest first.

    They are those of one page: were they the oldest, stale ones could hide all others.
    """
    asked = pending_for(user, now=now).filter(document=document)
    newest = PageRequest(limit=PAGE_LENGTH, newest_first=True)
    found, _ = _read_page(asked, newest, now=now)
    return [each for each in found if each.state == ApprovalState.PENDING]


def read_decisions_on(user: User, document: Document, *, now: datetime) -> list[ApprovalSnapshot]:
    """Return what the person decided of a draft as it is now, the newest decision first.

    These are the approvals that can still be used, as many as a page has; if there is none, the
    last decision, if that is a rejection.
    """
    decided = IssueApproval.objects.visible_to(user).filter(
        document=document, lock_version=document.lock_version, decided_at__isnull=False
    )
    live = decided.exclude(Exists(ended_connections(user).filter(pk=OuterRef("connection_id"))))
    newest = live.select_related("document__customer").order_by("-decided_at")
    approved = newest.filter(
        decision=Decision.APPROVED, expires_at__gt=now, executed_at__isnull=True
    )
    usable = read_approvals(approved[:PAGE_LENGTH], now=now)
    last = read_approvals(newest[:1], now=now)
    return [each for each in usable if each.state == ApprovalState.APPROVED] or [
        each for each in last if each.state == ApprovalState.REJECTED
    ]


def read_others(user: User, *, before: UUID | None, now: datetime) -> InboxPage:
    """Return a page of the approvals that are not pending, newest first."""
    pending = pending_for(user, now=now).values("pk")
    page = PageRequest(after=before, limit=PAGE_LENGTH, newest_first=True)
    return _read_page(IssueApproval.objects.visible_to(user).exclude(pk__in=pending), page, now=now)


def _read_page(
    approvals: QuerySet[IssueApproval], page: PageRequest, *, now: datetime
) -> InboxPage:
    rows = in_order(approvals.select_related("document__customer"), page)
    shown, following = cut_page(rows[: page.limit + 1], page.limit)
    return read_approvals(shown, now=now), following
