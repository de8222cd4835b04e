"""The texts of the approval pages, with every amount and time formatted."""

import hashlib
import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.urls import reverse

from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.approval_states import ApprovalState
from invoicing.decisions import approvals_of_ended_connections
from invoicing.draft_fields import SUBJECT
from invoicing.languages import APPLICATION_LANGUAGE, name_of_language
from invoicing.models import Decision, Document, User
from invoicing.services.approvals import ApprovalSnapshot
from invoicing.services.document_facts import Facts
from invoicing.web.changes import find_changes
from invoicing.web.formats import Formats, format_clock, format_instant
from invoicing.web.issue_warnings import render_warnings
from invoicing.web.papers import lay_out

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


# What a template of these pages says about an approval, by name.
Told = dict[str, Any]


def describe_entries(snapshots: Sequence[ApprovalSnapshot], user: User) -> list[Told]:
    """Describe lines of the inbox."""
    given_up = approvals_of_ended_connections(snapshots, user)
    return [
        _describe_entry(each, user, has_ended=each.approval.pk in given_up) for each in snapshots
    ]


def _describe_entry(snapshot: ApprovalSnapshot, user: User, *, has_ended: bool) -> Told:
    """Describe one; once its connection `has_ended`, there is no time left to issue anything.

    Once nothing can expire, `seconds_left` is 0 and `time_left` empty.
    """
    approval, facts, state = snapshot.approval, snapshot.prepared, snapshot.state
    seconds = _seconds_left(snapshot)
    is_given_up = has_ended and seconds > 0
    if is_given_up:
        seconds = 0
    return {
        "href": reverse("approval", args=[approval.id]),
        "document": _name_of(approval.document, state),
        "subject": facts[SUBJECT],
        "customer": facts["customer"]["name"],
        "total": _format_total(facts),
        "connection_name": approval.connection_name,
        "prepared_at": format_instant(approval.prepared_at, user),
        "state": CONNECTION_ENDED if is_given_up else STATES[state],
        "is_waiting": state == ApprovalState.PENDING and not is_given_up,
        "is_issued": state == ApprovalState.EXECUTED,
        "seconds_left": seconds,
        "time_left": _format_duration(seconds),
    }


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


def describe_hidden(snapshot: ApprovalSnapshot, user: User) -> Told:
    """Describe a request whose document this person cannot see any more.

    What became of it they may not know.
    """
    known = {ApprovalState.PENDING, ApprovalState.REJECTED}
    state = snapshot.state if snapshot.state in known else "over"
    return _with_version(_describe_request(snapshot, user) | {"state": state})


def _describe_request(snapshot: ApprovalSnapshot, user: User) -> Told:
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


def _with_version(review: Told) -> Told:
    """Add the state, and a digest of all that is said, for the page's script.

    It differs once the page would say something else, except how much time is left.
    """
    said = review | {"seconds_left": None, "time_left": None}
    digest = hashlib.sha256(repr(said).encode()).hexdigest()
    return review | {"page_version": f"{review['state']} {digest}"}


def describe_review(snapshot: ApprovalSnapshot, user: User) -> Told:
    """Describe a request with its document; the texts of times that have not come are empty.

    To issue, for which the agent asks next, takes one permission more than to approve.
    """
    approval, facts, state = snapshot.approval, snapshot.prepared, snapshot.state
    has_ended = _has_connection_ended(snapshot, user)
    return _with_version(
        {
            **_describe_request(snapshot, user),
            "heading": HEADING_OF_ENDED if has_ended else HEADINGS[state],
            "total": _format_total(facts),
            "decided_at": format_instant(approval.decided_at, user),
            "is_approved": approval.decision == Decision.APPROVED,
            "rejection_reason": approval.rejection_reason,
            "executed_at": format_instant(approval.executed_at, user),
            "number": approval.document.number or "",
            "draft_code": approval.document.draft_code,
            "lock_version": approval.lock_version,
            "language": name_of_language(facts["language"]),
            "document_href": reverse("document", args=[approval.document_id]),
            "may_approve": user.has_perm(Permission.FINALIZE),
            "may_issue": user.has_perms(ISSUE_PERMISSIONS),
            "paper": lay_out(facts, number=_number(snapshot)),
            "has_connection_ended": has_ended,
            "changes": find_changes(facts, snapshot.current) if snapshot.stale_fields else [],
            "warnings": _warn(snapshot, user) if state == ApprovalState.PENDING else "",
        }
    )


def _has_connection_ended(snapshot: ApprovalSnapshot, user: User) -> bool:
    """Return whether nothing can be issued by it any more though there is time left."""
    return bool(_seconds_left(snapshot) and approvals_of_ended_connections([snapshot], user))


def _number(snapshot: ApprovalSnapshot) -> str:
    """Return the number if this approval gave it; the draft may have got one in another way."""
    is_executed = snapshot.state == ApprovalState.EXECUTED
    return snapshot.approval.document.number or "" if is_executed else ""


def _warn(snapshot: ApprovalSnapshot, user: User) -> str:
    draft = snapshot.approval.document
    return render_warnings(user, draft, snapshot.prepared, now=snapshot.now)
