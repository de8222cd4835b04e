"""The approvals that await a person's decision, and those that had it or missed it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from invoicing.approval_states import ApprovalState
from invoicing.models import Document, DocumentStatus, User
from invoicing.search.paging import cut_page
from invoicing.services.approvals import ReviewedApproval, approvals_of, review_each
from invoicing.services.document_facts import fingerprint_each

PAGE_LENGTH = 25


@dataclass(frozen=True)
class InboxPage:
    """`next` is the cursor of the following page, or None on the last one."""

    approvals: list[ReviewedApproval]
    next: UUID | None


def find_open(user: User, *, now: datetime) -> list[UUID]:
    """Return the IDs of all open approvals in the person's scope, the first to expire first.

    However many there are: ten minutes of agents within their limits make few. What is out of
    scope stands in no list, and can only be rejected, by its link.
    """
    candidates = approvals_of(user).filter(
        decision="",
        expires_at__gt=now,
        document__status=DocumentStatus.DRAFT,
        document__lock_version=F("lock_version"),
    )
    rows = list(candidates.order_by("id").values_list("id", "document_id", "fingerprint"))
    standing = _fingerprint_drafts({document_id for _, document_id, _ in rows})
    return [pk for pk, document_id, prepared in rows if standing.get(document_id) == prepared]


def _fingerprint_drafts(ids: set[UUID]) -> dict[UUID, str]:
    drafts = Document.objects.filter(pk__in=ids).select_related("customer")
    return fingerprint_each(list(drafts)) if ids else {}


def count_waiting(user: User) -> int:
    """Return how many approvals the person's inbox holds open at this moment."""
    return len(find_open(user, now=timezone.now()))


def read_open(
    user: User, open_ids: Sequence[UUID], *, after: UUID | None, now: datetime
) -> InboxPage:
    """Return a page of the open approvals, which find_open() found."""
    ids = [pk for pk in open_ids if after is None or pk > after][: PAGE_LENGTH + 1]
    shown = approvals_of(user).filter(pk__in=ids[:PAGE_LENGTH])
    rows = shown.select_related("document__customer").order_by("id")
    following = ids[PAGE_LENGTH - 1] if len(ids) > PAGE_LENGTH else None
    return InboxPage(review_each(rows, now=now), following)


def read_open_of(user: User, document: Document, *, now: datetime) -> list[ReviewedApproval]:
    """Return what the person can decide now about one draft."""
    undecided = approvals_of(user).filter(document=document, decision="", expires_at__gt=now)
    asked = review_each(undecided.select_related("document__customer").order_by("id"), now=now)
    return [each for each in asked if each.state == ApprovalState.PENDING]


def read_others(
    user: User, open_ids: Sequence[UUID], *, before: UUID | None, now: datetime
) -> InboxPage:
    """Return a page of those that are not open, newest first."""
    walk = approvals_of(user).exclude(id__in=open_ids)
    if before is not None:
        walk = walk.filter(id__lt=before)
    rows = walk.select_related("document__customer").order_by("-id")[: PAGE_LENGTH + 1]
    shown, following = cut_page(rows, PAGE_LENGTH)
    return InboxPage(review_each(shown, now=now), following)
