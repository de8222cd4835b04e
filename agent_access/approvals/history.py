"""What happened to a record as its person may know it: asked, decided, expired and done."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent_access.approvals.descriptions import Told, format_moment
from agent_access.approvals.engine import Kind
from agent_access.approvals.inbox import visible_to
from agent_access.approvals.kinds import Step, kinds
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.sightings import find_seen
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.templatetags.texts import isolate
from agent_access.translations import Text

# So many requests are read, the newest, and so many steps are told.
MOST_REQUESTS = 25
MOST_STEPS = 12

# Whether it was rejected, and not only looked at; and whether it changed since.
HEADINGS: Mapping[tuple[bool, bool], Text] = {
    (True, True): gettext_lazy("Changed since you rejected it on %(moment)s"),
    (True, False): gettext_lazy("Nothing has changed since you rejected it on %(moment)s"),
    (False, True): gettext_lazy("Changed since you looked at it on %(moment)s"),
    (False, False): gettext_lazy("Nothing has changed since you looked at it on %(moment)s"),
}


def describe_history(kind: Kind, target: Any, key: UUID, user: Any, *, now: datetime) -> list[Told]:
    """Describe what was asked of this person about a record that they see, the newest first.

    Of what others were asked they read nothing. `key` is the record's, as requests have it.
    """
    asked = visible_to(user).filter(kind=kind.name, target=key).order_by("-pk")[:MOST_REQUESTS]
    steps = [*(kind.steps(target, user) if target else ())]
    steps += _tell_requests(list(asked)[::-1], now)
    # Of the same moment, what is told later happened later.
    newest = sorted(steps, key=lambda step: step.at)[::-1]
    alike = groupby(newest, key=lambda step: (step.sentence, step.quote))
    return [_describe(list(each)) for _same, each in islice(alike, MOST_STEPS)]


def _describe(steps: Sequence[Step]) -> Told:
    """Describe steps one after another that read the same, the newest first."""
    last = steps[0]
    moment = format_moment(last.at)
    return {"at": moment, "sentence": last.sentence, "quote": last.quote, "times": len(steps)}


def describe_since(snapshot: ApprovalSnapshot, user: Any) -> Told | None:
    """Describe what differs from what the person saw or rejected before; None if they did not."""
    seen = find_seen(snapshot.approval)
    if seen is None:
        return None
    told = kinds.get(snapshot.approval.kind).compare(seen.facts, snapshot, user)
    is_changed = bool(told.get("changes") or told.get("is_marked"))
    heading = HEADINGS[seen.is_rejected, is_changed] % {"moment": format_moment(seen.at)}
    return {"heading": heading, "is_rejected": seen.is_rejected, **told}


def _tell_requests(requests: Sequence[ApprovalRequest], now: datetime) -> Iterator[Step]:
    """Yield the steps of requests, the oldest first."""
    asked: dict[UUID, str] = {}
    for request in requests:
        agent, fingerprint = isolate(request.connection_name), request.fingerprint
        before = asked.get(request.connection_id)
        asked[request.connection_id] = fingerprint
        yield Step(request.prepared_at, _tell_asked(agent, before, fingerprint))
        yield from _tell_outcome(request, agent, now)


def _tell_asked(agent: SafeString, before: str | None, fingerprint: str) -> SafeString:
    if before is None:
        return format_html(_("{agent} asked you to approve it"), agent=agent)
    if before == fingerprint:
        return format_html(_("{agent} asked again, with nothing changed"), agent=agent)
    return format_html(_("{agent} asked again, after a change"), agent=agent)


def _tell_outcome(request: ApprovalRequest, agent: SafeString, now: datetime) -> Iterator[Step]:
    if request.decided_at is not None:
        if request.decision == Decision.APPROVED:
            yield Step(request.decided_at, _("You approved it"))
        elif request.rejection_reason:
            yield Step(request.decided_at, _("You rejected it:"), request.rejection_reason)
        else:
            yield Step(request.decided_at, _("You rejected it"))
    elif request.replaced_at is None and request.expires_at <= now:
        yield Step(request.expires_at, _("The request expired before you decided"))
    if request.executed_at is not None:
        done = str(kinds.get(request.kind).words.done)
        yield Step(request.executed_at, format_html(done, agent=agent))
