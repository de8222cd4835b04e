"""What the pages say of approvals, in words for people, with every time formatted."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.urls import NoReverseMatch, reverse
from django.utils.dateformat import format as format_date
from django.utils.timezone import localtime
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from agent_access import approvers, conf, waiting
from agent_access.approvals.engine import approvals_of_ended_connections
from agent_access.approvals.kinds import kinds
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.connections import live_connections
from agent_access.keys import to_key
from agent_access.translations import Text

STATES: Mapping[ApprovalState, Text] = {
    ApprovalState.PENDING: _("Waiting for you"),
    ApprovalState.APPROVED: _("Approved"),
    ApprovalState.REJECTED: _("Rejected"),
    ApprovalState.EXECUTED: _("Done"),
    ApprovalState.EXPIRED: _("Expired"),
    ApprovalState.STALE: _("Changed"),
}
CONNECTION_ENDED = _("Connection ended")
# Of what was approved without the signature that it needs, or with one that holds no more.
UNSIGNED = _("Not signed")
HEADING_OF_UNSIGNED = _("The approval is not signed")

HEADINGS: Mapping[ApprovalState, Text] = {
    ApprovalState.APPROVED: _("You approved this request"),
    ApprovalState.REJECTED: _("You rejected this request"),
    ApprovalState.EXECUTED: _("This is done"),
    ApprovalState.EXPIRED: _("This request has expired"),
    ApprovalState.STALE: _("It has changed since"),
}

# What a template of these pages says about an approval, by name.
Told = dict[str, Any]


def describe_entries(snapshots: Sequence[ApprovalSnapshot], user: Any) -> list[Told]:
    """Describe lines of the inbox."""
    given_up = approvals_of_ended_connections(snapshots, user)
    return [
        _describe_entry(each, user, has_ended=each.approval.pk in given_up) for each in snapshots
    ]


def describe_cards(cards: Sequence[ApprovalSnapshot], user: Any) -> list[Told]:
    """Describe cards of the inbox: entries with what their person may do about the connection.

    `asked` is how often it asked for the same, `stop_href` empty for whoever may not end it, and
    `mute_href` where nobody is told of anything.
    """
    stop = _links_to_stop({each.approval.connection_id for each in cards}, user)
    further = (
        {
            "asked": count_asked(each.approval),
            "connection_id": each.approval.connection_id,
            "stop_href": stop.get(each.approval.connection_id, ""),
            "mute_href": _link_to_mute(each.approval.connection_id),
        }
        for each in cards
    )
    return [a | b for a, b in zip(describe_entries(cards, user), further, strict=True)]


def count_asked(approval: ApprovalRequest) -> int:
    """Return how often the connection has asked for the same, this time included."""
    return 1 + (approval.repeats or 0)


def _links_to_stop(connection_ids: Collection[UUID], user: Any) -> dict[UUID, str]:
    """Return, of live connections that the user may end, the page that asks before it does."""
    may_administer = approvers.may_administer(user)
    if not connection_ids or not (may_administer or approvers.may_approve(user)):
        return {}
    try:
        page = reverse("admin:agent_access_connection_revoke")
    except NoReverseMatch:  # a project without the owner's pages
        return {}
    connections = live_connections().filter(pk__in=connection_ids)
    if not may_administer:
        connections = connections.filter(owner_id=to_key(user.pk))
    return {pk: f"{page}?id={pk}" for pk in connections.values_list("pk", flat=True)}


def _link_to_mute(connection_id: UUID) -> str:
    try:
        return reverse("agent_telling:mute", args=[connection_id]) if conf.tells_people() else ""
    except NoReverseMatch:  # a project without notifications
        return ""


def describe_told(told: Sequence[waiting.Told], *, now: datetime) -> list[Told]:
    """Describe what other apps ask."""
    return [
        _describe_told(each, math.ceil((each.expires_at - now).total_seconds())) for each in told
    ]


def _describe_told(told: waiting.Told, seconds: int) -> Told:
    return {
        "href": told.path,
        "title": told.title,
        "sentence": told.sentence,
        "detail": told.details,
        "seconds_left": seconds,
        "time_left": _format_duration(seconds),
    }


def _describe_entry(snapshot: ApprovalSnapshot, user: Any, *, has_ended: bool) -> Told:
    """Describe one; once its connection `has_ended`, there is no time left to execute anything.

    Once nothing can expire, `seconds_left` is 0 and `time_left` empty.
    """
    approval, state = snapshot.approval, snapshot.state
    kind, seconds = kinds.get(approval.kind), _seconds_left(snapshot)
    is_given_up = has_ended and seconds > 0
    if is_given_up:
        seconds = 0
    told = {
        "href": reverse("agent_approvals:review", args=[approval.pk]),
        "title": kind.words.title,
        "connection_name": approval.connection_name,
        "prepared_at": format_moment(approval.prepared_at),
        "state": CONNECTION_ENDED if is_given_up else _name_state(snapshot),
        "is_waiting": snapshot.is_undecided and not is_given_up,
        "is_executed": state == ApprovalState.EXECUTED,
        "seconds_left": seconds,
        "time_left": _format_duration(seconds),
    }
    return {**told, **kind.describe_entry(snapshot, user)}


def _name_state(snapshot: ApprovalSnapshot) -> Text:
    if _lacks_signature(snapshot):
        return UNSIGNED
    return {**STATES, **kinds.get(snapshot.approval.kind).words.states}[snapshot.state]


def _lacks_signature(snapshot: ApprovalSnapshot) -> bool:
    return snapshot.state == ApprovalState.PENDING and not snapshot.is_undecided


def describe_hidden(snapshot: ApprovalSnapshot, user: Any) -> Told:
    """Describe a request whose target this person cannot see any more.

    What became of it they may not know.
    """
    known = {ApprovalState.PENDING, ApprovalState.REJECTED}
    state = snapshot.state if snapshot.state in known else "over"
    kind = kinds.get(snapshot.approval.kind)
    told = _describe_request(snapshot) | {"state": state}
    return _with_version({**told, **kind.describe_hidden(snapshot, user)})


def describe_review(snapshot: ApprovalSnapshot, user: Any) -> Told:
    """Describe a request with its facts; the texts of times that have not come are empty."""
    approval, state = snapshot.approval, snapshot.state
    kind, has_ended = kinds.get(approval.kind), _has_connection_ended(snapshot, user)
    headings = {ApprovalState.PENDING: kind.words.question, **HEADINGS, **kind.words.headings}
    heading = HEADING_OF_UNSIGNED if _lacks_signature(snapshot) else headings[state]
    told = {
        **_describe_request(snapshot),
        "heading": kind.words.heading_of_ended if has_ended else heading,
        "words": kind.words,
        "decided_at": format_moment(approval.decided_at),
        "is_approved": approval.decision == Decision.APPROVED,
        "lacks_signature": _lacks_signature(snapshot),
        "rejection_reason": approval.rejection_reason,
        "executed_at": format_moment(approval.executed_at),
        "may_approve": kind.may_approve(user),
        "has_connection_ended": has_ended,
        "may_withdraw": kind.can_withdraw and state == ApprovalState.APPROVED and not has_ended,
        "warnings": kind.warnings(snapshot, user) if state == ApprovalState.PENDING else (),
    }
    return _with_version({**told, **kind.describe(snapshot, user)})


def _describe_request(snapshot: ApprovalSnapshot) -> Told:
    approval, seconds = snapshot.approval, _seconds_left(snapshot)
    return {
        "id": approval.pk,
        "state": snapshot.state,
        "connection_name": approval.connection_name,
        "prepared_at": format_moment(approval.prepared_at),
        "expires_at": format_clock(approval.expires_at),
        "seconds_left": seconds,
        "seconds_allowed": int((approval.expires_at - approval.prepared_at).total_seconds()),
        "time_left": _format_duration(seconds),
        "fingerprint": approval.fingerprint,
    }


def _with_version(review: Told) -> Told:
    """Add the state, and a digest of all that is said, for a script of the page.

    It differs once the page would say something else, except how much time is left.
    """
    said = review | {"seconds_left": None, "time_left": None}
    digest = hashlib.sha256(repr(said).encode()).hexdigest()
    return review | {"page_version": f"{review['state']} {digest}"}


def _has_connection_ended(snapshot: ApprovalSnapshot, user: Any) -> bool:
    """Return whether nothing can be executed by it any more though there is time left."""
    return bool(_seconds_left(snapshot) and approvals_of_ended_connections([snapshot], user))


def _seconds_left(snapshot: ApprovalSnapshot) -> int:
    """Return the seconds until it expires, rounded up; 0 once it can no longer be executed."""
    if snapshot.state not in {ApprovalState.PENDING, ApprovalState.APPROVED}:
        return 0
    left: timedelta = snapshot.approval.expires_at - snapshot.now
    return math.ceil(left.total_seconds())


def _format_duration(seconds: int) -> str:
    """Return "8 min 12 s", or an empty text for 0."""
    if not seconds:
        return ""
    return gettext("{minutes} min {seconds} s").format(minutes=seconds // 60, seconds=seconds % 60)


def format_moment(moment: datetime | None) -> str:
    """Return the moment in Django's current time zone, which is named, or an empty text for None.

    Such as "March 2, 2026, 10:30 CET". The project activates the zone of the person who looks.
    """
    if moment is None:
        return ""
    return format_date(localtime(moment), pgettext("format of a date", "F j, Y, H:i T"))


def format_clock(moment: datetime) -> str:
    """Return the time of the day to the second, in the same time zone: "10:30:07 CET"."""
    return f"{localtime(moment):%H:%M:%S %Z}"
