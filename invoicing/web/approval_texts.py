"""What the approval pages say, with every amount and time written out."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.urls import reverse

from invoicing.access import Permission
from invoicing.approval_states import ApprovalState
from invoicing.decisions import has_asker_ended
from invoicing.languages import APPLICATION_LANGUAGE, name_of_language
from invoicing.models import Decision, Document, User
from invoicing.services.approvals import ReviewedApproval
from invoicing.services.document_facts import Facts
from invoicing.web.changes import Change, find_changes
from invoicing.web.formats import Formats, format_clock, format_instant
from invoicing.web.issue_warnings import WarningText, write_warnings
from invoicing.web.papers import Paper, lay_out

STATES = {
    ApprovalState.PENDING: "Waits for you",
    ApprovalState.APPROVED: "Approved",
    ApprovalState.REJECTED: "Rejected",
    ApprovalState.EXECUTED: "Issued",
    ApprovalState.EXPIRED: "Expired",
    ApprovalState.STALE: "Draft changed",
}

HEADINGS = {
    ApprovalState.PENDING: "Issue this invoice?",
    ApprovalState.APPROVED: "You approved this issue",
    ApprovalState.REJECTED: "You rejected this issue",
    ApprovalState.EXECUTED: "This invoice is issued",
    ApprovalState.EXPIRED: "This request has expired",
    ApprovalState.STALE: "The draft has changed",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A line of the inbox; the time left is empty where nothing runs out any more."""

    href: str
    document: str
    customer: str
    total: str
    connection_name: str
    prepared_at: str
    state: str
    is_waiting: bool
    is_issued: bool
    seconds_left: int
    time_left: str


def describe_entry(reviewed: ReviewedApproval, user: User) -> Entry:
    approval, facts, state = reviewed.approval, reviewed.prepared, reviewed.state
    seconds = _seconds_left(reviewed)
    return Entry(
        href=reverse("approval", args=[approval.id]),
        document=_name_of(approval.document, state),
        customer=facts["customer"]["name"],
        total=_write_total(facts),
        connection_name=approval.connection_name,
        prepared_at=format_instant(approval.prepared_at, user),
        state=STATES[state],
        is_waiting=state == ApprovalState.PENDING,
        is_issued=state == ApprovalState.EXECUTED,
        seconds_left=seconds,
        time_left=_write_duration(seconds),
    )


def _write_total(facts: Facts) -> str:
    formats = Formats(APPLICATION_LANGUAGE, facts["currency_code"], facts["minor_unit"])
    return formats.money(facts["grand_total"])


def _name_of(document: Document, state: ApprovalState) -> str:
    is_issued = state == ApprovalState.EXECUTED
    return str(document.number) if is_issued else document.draft_code


def _seconds_left(reviewed: ReviewedApproval) -> int:
    """Return the whole seconds until the window closes; none once nothing can happen any more."""
    if reviewed.state not in {ApprovalState.PENDING, ApprovalState.APPROVED}:
        return 0
    left: timedelta = reviewed.approval.expires_at - reviewed.now
    return math.ceil(left.total_seconds())


def _write_duration(seconds: int) -> str:
    """Write "8 min 12 s"; countdown.js writes the same."""
    return f"{seconds // 60} min {seconds % 60} s" if seconds else ""


@dataclass(frozen=True, kw_only=True)
class HiddenReview:
    """What the page says of an approval whose document the person may not see any more."""

    id: UUID
    state: str
    connection_name: str
    prepared_at: str
    expires_at: str
    seconds_left: int
    time_left: str
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class Review(HiddenReview):
    """Everything that the review page says; moments are empty where they did not come."""

    heading: str
    total: str
    decided_at: str
    is_approved: bool
    rejection_reason: str
    executed_at: str
    number: str
    draft_code: str
    lock_version: int
    language: str
    document_href: str
    may_approve: bool
    paper: Paper
    has_asker_ended: bool
    changes: list[Change]
    warnings: list[WarningText]


def describe_hidden(reviewed: ReviewedApproval, user: User) -> HiddenReview:
    return HiddenReview(**_describe_request(reviewed, user))


def _describe_request(reviewed: ReviewedApproval, user: User) -> dict[str, Any]:
    approval, seconds = reviewed.approval, _seconds_left(reviewed)
    return {
        "id": approval.id,
        "state": reviewed.state,
        "connection_name": approval.connection_name,
        "prepared_at": format_instant(approval.prepared_at, user),
        "expires_at": format_clock(approval.expires_at, user),
        "seconds_left": seconds,
        "time_left": _write_duration(seconds),
        "fingerprint": approval.fingerprint,
    }


def describe_review(reviewed: ReviewedApproval, user: User) -> Review:
    approval, facts, state = reviewed.approval, reviewed.prepared, reviewed.state
    may_read = user.has_perm(Permission.VIEW_DOCUMENT)
    return Review(
        **_describe_request(reviewed, user),
        heading=HEADINGS[state],
        total=_write_total(facts),
        decided_at=_write_moment(approval.decided_at, user),
        is_approved=approval.decision == Decision.APPROVED,
        rejection_reason=approval.rejection_reason,
        executed_at=_write_moment(approval.executed_at, user),
        number=approval.document.number or "",
        draft_code=approval.document.draft_code,
        lock_version=approval.lock_version,
        language=name_of_language(facts["language"]),
        document_href=reverse("document", args=[approval.document_id]) if may_read else "",
        may_approve=user.has_perm(Permission.FINALIZE),
        paper=lay_out(facts, number=_number(reviewed)),
        has_asker_ended=bool(_seconds_left(reviewed)) and has_asker_ended(reviewed),
        changes=find_changes(facts, reviewed.current) if reviewed.stale_fields else [],
        warnings=_warn(reviewed, user) if state == ApprovalState.PENDING else [],
    )


def _number(reviewed: ReviewedApproval) -> str:
    """Return the number that this approval gave, not one that another gave to its draft."""
    is_executed = reviewed.state == ApprovalState.EXECUTED
    return reviewed.approval.document.number or "" if is_executed else ""


def _write_moment(moment: datetime | None, user: User) -> str:
    return format_instant(moment, user) if moment else ""


def _warn(reviewed: ReviewedApproval, user: User) -> list[WarningText]:
    draft = reviewed.approval.document
    return list(write_warnings(user, draft, reviewed.prepared, now=reviewed.now))
