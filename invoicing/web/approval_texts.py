"""The texts of the approval pages, with every amount and time formatted."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.urls import reverse

from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.approval_states import ApprovalState
from invoicing.decisions import find_given_up
from invoicing.draft_fields import SUBJECT
from invoicing.languages import APPLICATION_LANGUAGE, name_of_language
from invoicing.models import Decision, Document, User
from invoicing.services.approvals import ApprovalSnapshot
from invoicing.services.document_facts import Facts
from invoicing.web.changes import Change, find_changes
from invoicing.web.formats import Formats, format_clock, format_instant
from invoicing.web.issue_warnings import WarningText, describe_warnings
from invoicing.web.papers import Paper, lay_out

STATES = {
    ApprovalState.PENDING: "Waiting for you",
    ApprovalState.APPROVED: "Approved",
    ApprovalState.REJECTED: "Rejected",
    ApprovalState.EXECUTED: "Issued",
    ApprovalState.EXPIRED: "Expired",
    ApprovalState.STALE: "Draft changed",
}

CONNECTION_ENDED = "Connection ended"
HEADING_OF_ENDED = "The agent can no longer issue this"

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
    """A line of the inbox; once nothing can expire, `seconds_left` is 0 and `time_left` empty."""

    href: str
    document: str
    subject: str
    customer: str
    total: str
    connection_name: str
    prepared_at: str
    state: str
    is_waiting: bool
    is_issued: bool
    seconds_left: int
    time_left: str


def describe_entries(snapshots: Sequence[ApprovalSnapshot], user: User) -> list[Entry]:
    given_up = find_given_up(snapshots, user)
    return [
        _describe_entry(each, user, has_ended=each.approval.pk in given_up) for each in snapshots
    ]


def _describe_entry(snapshot: ApprovalSnapshot, user: User, *, has_ended: bool) -> Entry:
    """Describe one; once its connection `has_ended`, there is no time left to issue anything."""
    approval, facts, state = snapshot.approval, snapshot.prepared, snapshot.state
    seconds = _seconds_left(snapshot)
    is_given_up = has_ended and seconds > 0
    if is_given_up:
        seconds = 0
    return Entry(
        href=reverse("approval", args=[approval.id]),
        document=_name_of(approval.document, state),
        subject=facts[SUBJECT],
        customer=facts["customer"]["name"],
        total=_format_total(facts),
        connection_name=approval.connection_name,
        prepared_at=format_instant(approval.prepared_at, user),
        state=CONNECTION_ENDED if is_given_up else STATES[state],
        is_waiting=state == ApprovalState.PENDING and not is_given_up,
        is_issued=state == ApprovalState.EXECUTED,
        seconds_left=seconds,
        time_left=_format_duration(seconds),
    )


def _format_total(facts: Facts) -> str:
    formats = Formats(APPLICATION_LANGUAGE, facts["currency_code"], facts["minor_unit"])
    return formats.money(facts["grand_total"])


def _name_of(document: Document, state: ApprovalState) -> str:
    is_issued = state == ApprovalState.EXECUTED
    return str(document.number) if is_issued else document.draft_code


def _seconds_left(snapshot: ApprovalSnapshot) -> int:
    """Return the seconds until it expires, rounded up; 0 once it can no longer be executed."""
    if snapshot.state not in {ApprovalState.PENDING, ApprovalState.APPROVED}:
        return 0
    left: timedelta = snapshot.approval.expires_at - snapshot.now
    return math.ceil(left.total_seconds())


def _format_duration(seconds: int) -> str:
    """Return "8 min 12 s", as countdown.js writes it, or an empty text for 0."""
    return f"{seconds // 60} min {seconds % 60} s" if seconds else ""


@dataclass(frozen=True, kw_only=True)
class HiddenReview:
    """What the review page says if the person cannot see the document any more."""

    id: UUID
    state: str
    connection_name: str
    prepared_at: str
    expires_at: str
    seconds_left: int
    time_left: str
    fingerprint: str
    may_view_documents: bool

    @property
    def standing(self) -> str:
        """Return the state, and a digest of all that is said, for the page's script.

        It differs once the page would say something else, except how much time is left.
        """
        said = asdict(self) | {"seconds_left": None, "time_left": None}
        digest = hashlib.sha256(repr(said).encode()).hexdigest()
        return f"{self.state} {digest}"


@dataclass(frozen=True, kw_only=True)
class Review(HiddenReview):
    """What the review page says; the texts of times that have not come are empty.

    To issue, for which the agent asks next, takes one permission more than to approve.
    """

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
    may_issue: bool
    paper: Paper
    has_connection_ended: bool
    changes: list[Change]
    warnings: list[WarningText]


def describe_hidden(snapshot: ApprovalSnapshot, user: User) -> HiddenReview:
    """Describe a request; what became of its document this person may not know any more."""
    known = {ApprovalState.PENDING, ApprovalState.REJECTED}
    state = snapshot.state if snapshot.state in known else "over"
    return HiddenReview(**_describe_request(snapshot, user) | {"state": state})


def _describe_request(snapshot: ApprovalSnapshot, user: User) -> dict[str, Any]:
    approval, seconds = snapshot.approval, _seconds_left(snapshot)
    return {
        "id": approval.id,
        "state": snapshot.state,
        "connection_name": approval.connection_name,
        "prepared_at": format_instant(approval.prepared_at, user),
        "expires_at": format_clock(approval.expires_at, user),
        "seconds_left": seconds,
        "time_left": _format_duration(seconds),
        "fingerprint": approval.fingerprint,
        "may_view_documents": user.has_perm(Permission.VIEW_DOCUMENT),
    }


def describe_review(snapshot: ApprovalSnapshot, user: User) -> Review:
    approval, facts, state = snapshot.approval, snapshot.prepared, snapshot.state
    has_ended = _has_connection_ended(snapshot, user)
    return Review(
        **_describe_request(snapshot, user),
        heading=HEADING_OF_ENDED if has_ended else HEADINGS[state],
        total=_format_total(facts),
        decided_at=format_instant(approval.decided_at, user),
        is_approved=approval.decision == Decision.APPROVED,
        rejection_reason=approval.rejection_reason,
        executed_at=format_instant(approval.executed_at, user),
        number=approval.document.number or "",
        draft_code=approval.document.draft_code,
        lock_version=approval.lock_version,
        language=name_of_language(facts["language"]),
        document_href=reverse("document", args=[approval.document_id]),
        may_approve=user.has_perm(Permission.FINALIZE),
        may_issue=user.has_perms(ISSUE_PERMISSIONS),
        paper=lay_out(facts, number=_number(snapshot)),
        has_connection_ended=has_ended,
        changes=find_changes(facts, snapshot.current) if snapshot.stale_fields else [],
        warnings=_warn(snapshot, user) if state == ApprovalState.PENDING else [],
    )


def _has_connection_ended(snapshot: ApprovalSnapshot, user: User) -> bool:
    """Tell whether nothing can be issued by it any more though there is time left."""
    return bool(_seconds_left(snapshot) and find_given_up([snapshot], user))


def _number(snapshot: ApprovalSnapshot) -> str:
    """Return the number if this approval gave it; the draft may have got one in another way."""
    is_executed = snapshot.state == ApprovalState.EXECUTED
    return snapshot.approval.document.number or "" if is_executed else ""


def _warn(snapshot: ApprovalSnapshot, user: User) -> list[WarningText]:
    draft = snapshot.approval.document
    return list(describe_warnings(user, draft, snapshot.prepared, now=snapshot.now))
