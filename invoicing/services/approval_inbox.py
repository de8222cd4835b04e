"""A person's inbox of approvals: those to decide now, and all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from invoicing.approval_states import ApprovalState
from invoicing.models import Document, DocumentStatus, User
from invoicing.search.paging import cut_page
from invoicing.services.approvals import ApprovalSnapshot, approvals_visible_to, read_approvals
from invoicing.services.document_facts import fingerprint_each

PAGE_LENGTH = 25


@dataclass(frozen=True)
class InboxPage:
    """`next` is the cursor of the following page, or None on the last one."""

    approvals: list[ApprovalSnapshot]
    next: UUID | None


def find_pending(user: User, *, now: datetime) -> list[UUID]:
    """Return the IDs of all pending approvals in the person's scope, the first to expire first.

    Without a limit: in ten minutes agents within their rate limits prepare few. An approval of a
    document that the person cannot see is in no list; by its link it can be rejected, no more.
    """
    candidates = approvals_visible_to(user).filter(
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


def count_pending(user: User) -> int:
    """Return how many approvals the person can decide now."""
    return len(find_pending(user, now=timezone.now()))


def read_pending(
    user: User, pending_ids: Sequence[UUID], *, after: UUID | None, now: datetime
) -> InboxPage:
    """Return a page of the pending approvals, whose IDs find_pending() returned."""
    ids = [pk for pk in pending_ids if after is None or pk > after][: PAGE_LENGTH + 1]
    shown = approvals_visible_to(user).filter(pk__in=ids[:PAGE_LENGTH])
    rows = shown.select_related("document__customer").order_by("id")
    following = ids[PAGE_LENGTH - 1] if len(ids) > PAGE_LENGTH else None
    return InboxPage(read_approvals(rows, now=now), following)


def read_pending_of(user: User, document: Document, *, now: datetime) -> list[ApprovalSnapshot]:
    """Return the approvals of one draft that the person can decide now."""
    undecided = approvals_visible_to(user).filter(
        document=document, decision="", expires_at__gt=now
    )
    asked = read_approvals(undecided.select_related("document__customer").order_by("id"), now=now)
    return [each for each in asked if each.state == ApprovalState.PENDING]


def read_others(
    user: User, pending_ids: Sequence[UUID], *, before: UUID | None, now: datetime
) -> InboxPage:
    """Return a page of the approvals that are not pending, newest first."""
    walk = approvals_visible_to(user).exclude(id__in=pending_ids)
    if before is not None:
        walk = walk.filter(id__lt=before)
    rows = walk.select_related("document__customer").order_by("-id")[: PAGE_LENGTH + 1]
    shown, following = cut_page(rows, PAGE_LENGTH)
    return InboxPage(read_approvals(shown, now=now), following)
