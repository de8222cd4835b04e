"""What the steps on the way to an issued document are called, for people."""

from collections.abc import Iterator
from typing import Any

from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent
from invoicing.evidence.history import REPLAYED, Step, StepKind
from invoicing.models import User
from invoicing.paper.formats import format_instant

TITLES = {
    StepKind.MADE: "The draft was made",
    StepKind.SAVED: "The draft was changed",
    StepKind.ASKED: "Its issue was asked for",
    StepKind.APPROVED: "The request was approved",
    StepKind.REJECTED: "The request was rejected",
    StepKind.WITHDRAWN: "The approval was withdrawn",
    StepKind.EXPIRED: "The request ended without a decision",
    StepKind.ISSUED: "It was issued",
}
# The names of facts whose values are digests, or as long.
DIGESTS = {"Chain", "Digest", "Digest of what it is about", "Target"}


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
        "digests": DIGESTS,
    }


def _title(step: Step) -> str:
    if step.kind != StepKind.CALLED or step.event is None:
        return f"{TITLES[step.kind]}{'' if step.agent or not _is_by_hand(step) else ' by hand'}"
    event = step.event.event
    end = "repeated" if event.detail == REPLAYED else f"refused: {event.outcome}"
    return f"A call of {event.action} was {end}"


def _is_by_hand(step: Step) -> bool:
    return step.kind in {StepKind.MADE, StepKind.ISSUED}


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
    yield f"For version {approval.target_version} of the draft, to be decided until {until}."
    if approval.replaced_at:
        replaced = format_instant(approval.replaced_at, reader)
        yield f"A newer request took its place, {replaced}."


def _facts(event: AuditEvent) -> Iterator[tuple[str, str]]:
    """Yield what an event says, but no address from which a person or a program came."""
    yield "Action", event.action
    yield "Outcome", event.outcome
    yield "Target", event.target
    if event.content_digest:
        yield "Digest of what it is about", event.content_digest
    yield "Chain", event.chain
    yield "Sequence", str(event.sequence)
    yield "Digest", event.digest
