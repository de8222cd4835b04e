"""Where a request stands among those that wait, and what leads from one to the next."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from agent_access.approvals.descriptions import (
    Told,
    count_asked,
    format_clock,
)
from agent_access.approvals.engine import read_approval
from agent_access.approvals.errors import ApprovalNotFoundError
from agent_access.approvals.inbox import find_newer, read_around, read_cards, visible_to
from agent_access.approvals.kinds import kinds
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import ApprovalState
from agent_access.templatetags.texts import isolate

# The query parameter by which a page says what became of the request that was decided before it.
DECIDED = "decided"


def describe_place(user: Any, snapshot: ApprovalSnapshot) -> Told:
    """Describe where a request stands among those that wait: links, or empty texts.

    Of a request that waits: its place, the cards before and after it, and a newer one that asks for
    the same. Of another: the card that is the first to expire.
    """
    if snapshot.state != ApprovalState.PENDING:
        return {"next_href": find_next(user, snapshot)}
    (before, further_before), (after, further_after) = read_around(
        user, snapshot.approval, now=snapshot.now
    )
    hrefs_before, hrefs_after = _decidable(before), _decidable(after)
    newer = find_newer(snapshot.approval)
    number, is_alone = len(hrefs_before) + 1, not (hrefs_before or hrefs_after)
    place = _name_place(number, number + len(hrefs_after), is_more=bool(further_after))
    return {
        # Far down a long list nobody counts.
        "place": "" if is_alone or further_before or newer else place,
        "previous_href": next(iter(hrefs_before), ""),
        "following_href": next(iter(hrefs_after), ""),
        "newer_href": reverse("agent_approvals:review", args=[newer.pk]) if newer else "",
        "asked": count_asked(snapshot.approval),
    }


def _name_place(number: int, count: int, *, is_more: bool) -> str:
    told = _("{number} of more than {count}") if is_more else _("{number} of {count}")
    return told.format(number=number, count=count)


def find_next(user: Any, snapshot: ApprovalSnapshot) -> str:
    """Return the link of the card that is the first to expire, or an empty text."""
    cards, _further = read_cards(user, after=None, now=snapshot.now)
    return next(iter(_decidable(cards)), "")


def _decidable(cards: Sequence[ApprovalSnapshot]) -> list[str]:
    """Return the links of those that are not stale, which is told by reading their records."""
    pks = [each.approval.pk for each in cards if each.is_undecided]
    return [reverse("agent_approvals:review", args=[pk]) for pk in pks]


def address_after(user: Any, decided: ApprovalSnapshot) -> str:
    """Return the page after a decision: the next request, which tells of it, or its own page."""
    following = find_next(user, decided)
    pk = decided.approval.pk
    return (
        f"{following}?{DECIDED}={pk}" if following else reverse("agent_approvals:review", args=[pk])
    )


def describe_decided(user: Any, pk: UUID | None, *, here: ApprovalSnapshot) -> Told | None:
    """Describe what this person decided of another request, on the page to which that led.

    What is asked for is named only while they see its record.
    """
    if pk is None or pk == here.approval.pk:
        return None
    asked = ApprovalRequest.objects.asked_of(user).exclude(decision="")
    try:
        snapshot = read_approval(asked, pk, now=here.now)
    except ApprovalNotFoundError:
        return None
    is_visible = visible_to(user).filter(pk=snapshot.approval.pk).exists()
    href = reverse("agent_approvals:review", args=[snapshot.approval.pk])
    return {"href": href, "sentence": _tell_decided(snapshot, is_visible=is_visible)}


def _tell_decided(snapshot: ApprovalSnapshot, *, is_visible: bool) -> str:
    kind = kinds.get(snapshot.approval.kind)
    name = isolate((is_visible and kind.details(snapshot)) or kind.words.title)
    if snapshot.approval.decision == Decision.REJECTED:
        return format_html(_("You rejected: {name}."), name=name)
    if snapshot.state == ApprovalState.APPROVED and is_visible:
        until = format_clock(snapshot.approval.expires_at)
        told = _("You approved: {name}. The agent can do it until {until}.")
        return format_html(told, name=name, until=until)
    return format_html(_("You approved: {name}."), name=name)
