"""The approvals that await a person's decision, and those that had it or missed it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from invoicing.approval_states import ApprovalState
from invoicing.models import DocumentStatus, User
from invoicing.services.approvals import ReviewedApproval, approvals_of, review_each

# The rest of the open ones stands among the others, so that a flood of requests slows no page.
OPEN_SHOWN = 25
PAGE_LENGTH = 25


@dataclass(frozen=True)
class Inbox:
    """`next` is the cursor of the following page of `others`, or None on the last page."""

    open: list[ReviewedApproval]
    others: list[ReviewedApproval]
    next: UUID | None


def find_open(user: User, *, now: datetime) -> list[ReviewedApproval]:
    """Return what the person can decide now, the first to expire first; at most OPEN_SHOWN."""
    candidates = approvals_of(user).filter(
        decision="",
        expires_at__gt=now,
        document__status=DocumentStatus.DRAFT,
        document__lock_version=F("lock_version"),
    )
    rows = candidates.select_related("document__customer").order_by("id")[:OPEN_SHOWN]
    return [each for each in review_each(rows, now=now) if each.state == ApprovalState.PENDING]


def count_waiting(user: User) -> int:
    """Return how many approvals the person can decide at this moment; at most OPEN_SHOWN."""
    return len(find_open(user, now=timezone.now()))


def read_inbox(user: User, *, before: UUID | None, now: datetime) -> Inbox:
    """Return the open approvals, on the first page only, and a page of the others, newest first."""
    open_ones = find_open(user, now=now)
    walk = approvals_of(user).exclude(id__in=[each.approval.id for each in open_ones])
    if before is not None:
        walk = walk.filter(id__lt=before)
    rows = list(walk.select_related("document__customer").order_by("-id")[: PAGE_LENGTH + 1])
    shown = rows[:PAGE_LENGTH]
    return Inbox(
        open=open_ones if before is None else [],
        others=review_each(shown, now=now),
        next=shown[-1].id if len(rows) > PAGE_LENGTH else None,
    )
