"""What the steps on the way to an issued document are called, for people."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent
from invoicing.evidence.history import REPLAYED, Step, StepKind
from invoicing.models import User
from invoicing.paper.formats import format_instant

TITLES = {
    StepKind.MADE: _("The draft was made"),
    StepKind.SAVED: _("The draft was changed"),
    StepKind.ASKED: _("Its issue was asked for"),
    StepKind.APPROVED: _("The request was approved"),
    StepKind.REJECTED: _("The request was rejected"),
    StepKind.WITHDRAWN: _("The approval was withdrawn"),
    StepKind.EXPIRED: _("The request ended without a decision"),
    StepKind.ISSUED: _("It was issued"),
}
# The same of steps that a person took without an agent.
BY_HAND = {
    StepKind.MADE: _("The draft was made by hand"),
    StepKind.ISSUED: _("It was issued by hand"),
}


def describe_step(step: Step, reader: User) -> dict[str, Any]:
    """Return what the template of a step needs."""
    checked, signature = step.event, step.signature
    return {
        "step": step,
        "title": _title(step),
        "at": format_instant(step.at, reader),
        "lines": list(_lines(step, reader)),
        "approved_digest": step.approval.fingerprint
        if step.approval and step.kind == StepKind.APPROVED
        else "",
        "can_sign": _can_sign(step),
        "reason": step.approval.rejection_reason
        if step.approval and step.kind == StepKind.REJECTED
        else "",
        "signature": signature,
        "signed_at": format_instant(signature.signed_at, reader) if signature else "",
        "event": checked.event if checked else None,
        "is_whole": checked.is_whole if checked else True,
        "facts": list(_facts(checked.event)) if checked else [],
    }


def _title(step: Step) -> str:
    if step.kind != StepKind.CALLED or step.event is None:
        return str(TITLES[step.kind] if step.agent else BY_HAND.get(step.kind, TITLES[step.kind]))
    event = step.event.event
    if event.detail == REPLAYED:
        return gettext("A call of %(tool)s was repeated") % {"tool": event.action}
    values = {"tool": event.action, "outcome": event.outcome}
    return gettext("A call of %(tool)s was refused: %(outcome)s") % values


def _can_sign(step: Step) -> bool:
    if step.kind == StepKind.ISSUED:
        return step.approval is None
    return step.kind in {StepKind.APPROVED, StepKind.REJECTED}


def _lines(step: Step, reader: User) -> Iterator[str]:
    approval = step.approval
    if approval is None:
        return
    if step.kind == StepKind.ASKED:
        yield from _of_request(approval, reader)


def _of_request(approval: ApprovalRequest, reader: User) -> Iterator[str]:
    until = format_instant(approval.expires_at, reader)
    text = gettext("For version %(version)s of the draft, to be decided until %(moment)s.")
    yield text % {"version": approval.target_version, "moment": until}
    if approval.replaced_at:
        replaced = format_instant(approval.replaced_at, reader)
        yield gettext("A newer request took its place, %(moment)s.") % {"moment": replaced}


def _facts(event: AuditEvent) -> Iterator[tuple[str, str, bool]]:
    """Yield what an event says, but no address from which a person or a program came.

    The last of each tells whether it is a digest, or as long.
    """
    yield gettext("Action"), event.action, False
    yield gettext("Outcome"), event.outcome, False
    yield gettext("Target"), event.target, True
    if event.content_digest:
        yield gettext("Digest of what it is about"), event.content_digest, True
    yield gettext("Chain"), event.chain, True
    yield gettext("Sequence"), str(event.sequence), False
    yield gettext("Digest"), event.digest, True
