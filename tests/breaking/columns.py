"""What must not be, found in the database and the clients' own logs: a sentence for each case."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from tests.breaking.evidence import Approval, Document, Evidence
from tests.breaking.journal import Operation, Testimony
from tests.breaking.wire import OK

ISSUE = "documents.issue"
APPROVED = "approved"
DECISIONS = {"approve": APPROVED, "reject": "rejected"}

Column = Callable[[Evidence, Testimony], Iterator[str]]


def find_duplicates(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Writes that were meant once and done twice."""
    for reference, count in Counter(each.reference for each in evidence.documents).items():
        yield from [f"draft {reference} was created once more"] * (count - 1)
    updates = _count_targets(told, "drafts.update")
    for document in evidence.documents:
        more = _count_writes(document) - 1 - updates[document.id]
        yield from [f"document {document.id} was updated once more"] * more
    prepared = _count_targets(told, "documents.issue_prepare")
    for document_id, count in Counter(each.document_id for each in evidence.approvals).items():
        more = count - prepared[document_id]
        yield from [f"document {document_id} was prepared once more"] * more


def _count_targets(told: Testimony, tool: str) -> Counter[str]:
    return Counter(operation.call.target for operation, _ in told.successes(tool))


def find_gaps(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Numbers that no document has."""
    for series, last_value in evidence.series.items():
        given = {each.series_value for each in evidence.numbered if each.series_id == series}
        highest = max([last_value, *(value or 0 for value in given)])
        yield from (f"nobody has {value}" for value in range(1, highest + 1) if value not in given)


def find_repeats(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Numbers that several invoices have."""
    for number, count in Counter(each.number for each in evidence.numbered).items():
        yield from [f"{number} was given once more"] * (count - 1)


def find_losses(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Writes that a client was told of and the database does not have."""
    documents = {each.id: each for each in evidence.documents}
    approvals = {each.id: each for each in evidence.approvals}
    receipts = {(each.connection_id, each.key) for each in evidence.receipts if each.status}
    for operation in told.operations.values():
        if operation.result is None:
            continue
        key = operation.call.key
        if (operation.connection_id, key) not in receipts:
            yield f"the receipt of {key} is lost"
        if not _is_kept(operation, documents, approvals):
            yield f"what {key} was told is lost"
    for approval_id, word in told.decisions.items():
        if approval_id not in approvals or approvals[approval_id].decision != DECISIONS[word]:
            yield f"the decision on {approval_id} is lost"


def _is_kept(
    operation: Operation, documents: dict[str, Document], approvals: dict[str, Approval]
) -> bool:
    """Return whether the database has what the answer to an operation said."""
    result = operation.result or {}
    if operation.call.tool == "documents.issue_prepare":
        return result["approval_id"] in approvals
    is_issue = operation.call.tool == ISSUE
    told = result["document"] if is_issue else result
    document = documents.get(told["id"])
    if document is None or document.reference != told["reference"]:
        return False
    if is_issue:
        return document.number == str(result["number"])
    version, draft_version = int(told["lock_version"]), _count_writes(document)
    # Notes that are none are null on the wire.
    is_as_told = document.notes == str(told["notes"] or "")
    return draft_version > version or (draft_version == version and is_as_told)


def _count_writes(document: Document) -> int:
    """Return how often the draft was written, its creation included; issuing is no write of it."""
    return document.lock_version - (document.number is not None)


def find_ghosts(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Writes that the database has and no client was told of, though each asked until it was."""
    created = {result["id"] for _, result in told.successes("drafts.create")}
    prepared = {result["approval_id"] for _, result in told.successes("documents.issue_prepare")}
    issued = {result["document"]["id"] for _, result in told.successes(ISSUE)}
    answered = {
        place for place, operation in told.operations.items() if operation.result is not None
    }
    yield from (f"draft {each.id}" for each in evidence.documents if each.id not in created)
    yield from (f"approval {each.id}" for each in evidence.approvals if each.id not in prepared)
    yield from (f"invoice {each.number}" for each in evidence.issued if each.id not in issued)
    for receipt in evidence.receipts:
        if (receipt.connection_id, receipt.key) not in answered:
            yield f"receipt {receipt.key}"
    for approval in evidence.approvals:
        if approval.decision and approval.id not in told.decisions:
            yield f"decision on {approval.id}"


def find_diverging_replays(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Keys to which two different answers were given."""
    for operation in told.operations.values():
        answers = {
            reply.body if reply.outcome == OK else reply.outcome
            for reply in operation.replies
            if reply.is_answer
        }
        if len(answers) > 1:
            yield f"{operation.call.key} was answered in {len(answers)} ways"


def find_unapproved(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Invoices without an approval of the same version that was given, and in time."""
    sound = Counter(each.document_id for each in evidence.approvals if _was_in_time(each))
    versions = {
        each.document_id: each.lock_version for each in evidence.approvals if each.executed_at
    }
    for document in evidence.issued:
        is_same = versions.get(document.id) == document.lock_version - 1
        if sound[document.id] != 1 or not is_same:
            yield f"invoice {document.number} was not approved as it is"


def _was_in_time(approval: Approval) -> bool:
    if approval.decision != APPROVED or approval.decided_at is None or approval.executed_at is None:
        return False
    return approval.decided_at <= approval.executed_at < approval.expires_at


def find_audit_orphans(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Acts without their event, events without their act, and answers that no event tells of."""
    yield from _differ("write", _acts(evidence), _events_of_acts(evidence))
    decisions: Counter[tuple[str, ...]] = Counter(
        (each.id, f"approval:{each.decision}") for each in evidence.approvals if each.decision
    )
    decided: Counter[tuple[str, ...]] = Counter(
        (each.target, each.action)
        for each in evidence.events
        if each.action.startswith("approval:") and each.outcome == OK
    )
    yield from _differ("decision", decisions, decided)
    heard = {
        reply.request_id
        for operation in told.operations.values()
        for reply in operation.replies
        if reply.is_answer
    }
    for request_id in heard - {each.request_id for each in evidence.events}:
        yield f"request {request_id} was answered without an event"


def _acts(evidence: Evidence) -> Counter[tuple[str, ...]]:
    return Counter(
        (each.connection_id, each.tool, each.record_id or "") for each in evidence.receipts
    )


def _events_of_acts(evidence: Evidence) -> Counter[tuple[str, ...]]:
    tools = {each.tool for each in evidence.receipts}
    # The event of an execution names the approval; its receipt, the document.
    documents = {each.id: each.document_id for each in evidence.approvals}
    return Counter(
        (each.connection_id, each.action, documents.get(each.target, each.target))
        for each in evidence.events
        if each.action in tools and each.outcome == OK and each.detail != "replayed"
    )


def _differ(
    what: str, acts: Counter[tuple[str, ...]], events: Counter[tuple[str, ...]]
) -> Iterator[str]:
    yield from (f"{what} {act} has no event" for act in (acts - events).elements())
    yield from (f"the event of a {what} {act} has no act" for act in (events - acts).elements())


def find_audit_breaks(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Chains that verify_audit finds broken."""
    yield from evidence.breaks


# By how many seconds the clocks of two servers may differ (docs/operations.md, Clocks).
CLOCKS_DIFFER = 5


def find_disorder(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Numbers that were committed, or dated, before a lower one of their series."""
    numbered = sorted(evidence.numbered, key=lambda each: (each.series_id, each.series_value))
    for before, after in pairwise(numbered):
        if before.series_id != after.series_id:
            continue
        is_dated_before = _dated(after) < _dated(before) - CLOCKS_DIFFER
        if after.committed_at < before.committed_at or is_dated_before:
            yield f"{after.number} came before {before.number}"


def _dated(document: Document) -> float:
    return document.issued_at.timestamp() if document.issued_at else 0


def find_lost_corrections(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Credit notes that a person was told of and that are not there, with a number."""
    issued = {each.id for each in evidence.corrections if each.number is not None}
    yield from (f"credit note {pk} is lost" for pk in told.corrections if pk not in issued)


def find_silent_corrections(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Credit notes without the event that a person issued them, and such events without one."""
    issued = Counter(each.id for each in evidence.corrections if each.number is not None)
    events = Counter(evidence.by_hand)
    yield from (f"credit note {pk} has no event" for pk in (issued - events).elements())
    yield from (f"the event of {pk} has no credit note" for pk in (events - issued).elements())


def find_overdrawn(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Of what more was taken back by credit notes than there was."""
    yield from (each.what for each in evidence.rests if each.rest < 0)


def find_unsigned(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Numbers that were issued without the signature that their customer demands."""
    yield from evidence.unsigned


def find_surprises(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Answers that the interface does not allow where they came."""
    yield from told.surprises


def find_unanswered(evidence: Evidence, told: Testimony) -> Iterator[str]:
    """Writes that had no answer when all was quiet again."""
    yield from (
        f"{operation.call.key} has no answer"
        for operation in told.operations.values()
        if not operation.is_answered
    )


COLUMNS: dict[str, Column] = {
    "duplicates": find_duplicates,
    "gaps": find_gaps,
    "repeats": find_repeats,
    "losses": find_losses,
    "ghosts": find_ghosts,
    "diverging replays": find_diverging_replays,
    "issues without approval": find_unapproved,
    "audit orphans": find_audit_orphans,
    "audit breaks": find_audit_breaks,
    "numbers out of order": find_disorder,
    "overdrawn invoices": find_overdrawn,
    "credit notes lost": find_lost_corrections,
    "credit notes without their event": find_silent_corrections,
    "unsigned numbers": find_unsigned,
    "wrong answers": find_surprises,
    "calls never answered": find_unanswered,
}


def find_all(evidence: Evidence, told: Testimony) -> dict[str, list[str]]:
    """Return every column with its cases."""
    return {name: list(find(evidence, told)) for name, find in COLUMNS.items()}
