"""What can be checked of an issued document from what is stored here, and what came of it.

Whoever can write to the whole database can make all of it agree: heads of the audit that were kept
elsewhere are the answer to that.
"""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from agent_access.facts import fingerprint_of
from invoicing.evidence.history import History, StepKind
from invoicing.models import Document, Original
from invoicing.services.document_facts import read_parts
from invoicing.services.issued_content import digest_content


class Outcome(StrEnum):
    """What came of a check; UNKNOWN where nothing was kept that it could be compared with."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Checks:
    """The outcomes, and the digest of the document as it is stored now.

    `content`: is it the document whose digest the event of its issue has? `approval`: do the stored
    facts of the request have their digest, and the event of the decision the same? That is UNKNOWN
    for an issue by hand, too. `events`: does the digest of every event follow from what it says?
    """

    content_digest: str
    content: Outcome
    approval: Outcome
    events: Outcome


def check(document: Document, history: History) -> Checks:
    """Compare the issued document with the audit."""
    read_parts([document])
    digest = digest_content(document)
    issued = next(step for step in history.steps if step.kind == StepKind.ISSUED)
    kept = issued.event.event.content_digest if issued.event else None
    events = [step.event for step in history.steps if step.event]
    return Checks(
        content_digest=digest,
        content=_compare(kept, digest),
        approval=_check_approval(history),
        events=_outcome(all(each.is_whole for each in events)) if events else Outcome.UNKNOWN,
    )


def is_whole(original: Original) -> bool:
    """Return whether the kept file is the one that was made, by its digest."""
    return sha256(bytes(original.content)).hexdigest() == original.digest


def _check_approval(history: History) -> Outcome:
    executed = history.executed
    if executed is None:
        return Outcome.UNKNOWN
    if fingerprint_of(executed.facts) != executed.fingerprint:
        return Outcome.WRONG
    approved = (
        step.event.event.content_digest
        for step in history.steps
        if step.kind == StepKind.APPROVED and step.approval == executed and step.event
    )
    return _compare(next(approved, None), executed.fingerprint)


def _compare(kept: str | None, computed: str) -> Outcome:
    return _outcome(kept == computed) if kept else Outcome.UNKNOWN


def _outcome(is_right: bool) -> Outcome:  # noqa: FBT001  one argument
    return Outcome.RIGHT if is_right else Outcome.WRONG
