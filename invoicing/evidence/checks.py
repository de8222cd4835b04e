"""What can be checked of an issued document from what is stored here, and what came of it.

Whoever can write to the whole database can make all of it agree: heads of the audit that were kept
elsewhere are the answer to that.
"""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

import orjson

from agent_access.approvals.signatures import digest_decision
from agent_access.facts import UNSET, fingerprint_of
from invoicing.evidence.history import History, StepKind
from invoicing.evidence.signatures import holds
from invoicing.models import Document, Original
from invoicing.services.document_facts import read_parts
from invoicing.services.issued_content import digest_content, read_content


class Outcome(StrEnum):
    """What came of a check; UNKNOWN where nothing was kept that it could be compared with."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Checks:
    """The outcomes, and the digest of the document as it is stored now.

    `content`: is it the document whose digest the event of its issue has? `approval`: do the stored
    facts of the request have their digest, and the event of the decision the same? `match`: does
    the document say what was approved, or signed by hand? `signature`: is there one where one was
    demanded, and was it made by its key over what was approved? These three are UNKNOWN where there
    was no approval and no signature. `events`: does the digest of every event follow from what it
    says?
    """

    content_digest: str
    content: Outcome
    approval: Outcome
    match: Outcome
    signature: Outcome
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
        match=_match(document, history),
        signature=_check_signature(history),
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
    return _compare(next(approved, None), digest_decision(executed))


def _match(document: Document, history: History) -> Outcome:
    decided = history.executed or history.signature
    if decided is None:
        return Outcome.UNKNOWN
    return _outcome(_is_part(read_content(document)["facts"], orjson.loads(decided.facts)))


def _check_signature(history: History) -> Outcome:
    executed, signature = history.executed, history.signature
    if signature is None:
        return Outcome.WRONG if executed and executed.demand else Outcome.UNKNOWN
    is_theirs = executed is None or (
        signature.person_id == executed.delegated_user_id
        and signature.fingerprint == executed.fingerprint
    )
    return _outcome(is_theirs and holds(signature))


def _is_part(frozen: Any, approved: Any) -> bool:
    """Return whether all that is frozen was approved; facts of a draft say more, such as IDs."""
    if isinstance(frozen, dict) and isinstance(approved, dict):
        return all(_is_part(frozen[name], approved.get(name)) for name in frozen)
    if isinstance(frozen, list) and isinstance(approved, list):
        return len(frozen) == len(approved) and all(map(_is_part, frozen, approved))
    return bool(frozen == approved or (frozen in UNSET and approved in UNSET))


def _compare(kept: str | None, computed: str) -> Outcome:
    return _outcome(kept == computed) if kept else Outcome.UNKNOWN


def _outcome(is_right: bool) -> Outcome:  # noqa: FBT001  one argument
    return Outcome.RIGHT if is_right else Outcome.WRONG
