"""How an issued document came to be, step by step, as stored records and audit events tell it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import OK
from agent_access.models import AuditEvent
from agent_access.passkeys.models import Signature
from agent_access.verification import read_archived_before
from invoicing.document_approvals import ISSUE, find_executed
from invoicing.evidence.events import CheckedEvent, read_events
from invoicing.evidence.signatures import read_signatures
from invoicing.models import Document, User

# The most requests that are told of one document, the newest.
MOST_REQUESTS = 100
REPLAYED = "replayed"


class StepKind(StrEnum):
    """What happened."""

    MADE = "made"
    SAVED = "saved"
    ASKED = "asked"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    CALLED = "called"
    ISSUED = "issued"


DECIDED = {Decision.APPROVED: StepKind.APPROVED, Decision.REJECTED: StepKind.REJECTED}
# How the events of an agent's calls and a person's decisions are called, as steps.
ACTIONS = {
    "drafts.create": StepKind.MADE,
    "drafts.update": StepKind.SAVED,
    "documents.issue_prepare": StepKind.ASKED,
    "approval:approved": StepKind.APPROVED,
    "approval:rejected": StepKind.REJECTED,
    "approval:withdrawn": StepKind.WITHDRAWN,
    "documents.issue": StepKind.ISSUED,
    "document:issued": StepKind.ISSUED,
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that happened on the way to an issued document.

    `person` is who did it, or for whom an agent did; `agent` is the agent's name, or empty. `event`
    is None where the audit has none; `is_archived` says that those of that time were archived. A
    call that was refused or repeated is CALLED.
    """

    kind: StepKind
    at: datetime
    person: str = ""
    agent: str = ""
    approval: ApprovalRequest | None = None
    signature: Signature | None = None
    event: CheckedEvent | None = None
    is_archived: bool = False

    @property
    def lacks_event(self) -> bool:
        """Return whether the audit should have an event of it, and this page found none."""
        is_act = self.kind not in {StepKind.MADE, StepKind.EXPIRED} or bool(self.agent)
        return is_act and self.event is None


@dataclass(frozen=True, kw_only=True)
class History:
    """The steps, the oldest first; `executed` is the approval by which it was issued, if one was.

    `signature` is the one of that approval, or of who issued it by hand, if that was signed.
    `older_requests` is how many requests are not among the steps, `saved_otherwise` how often the
    draft was saved besides them: by hand, which is not audited, or by agents that asked nothing.
    """

    steps: Sequence[Step]
    executed: ApprovalRequest | None
    signature: Signature | None
    older_requests: int
    saved_otherwise: int


def read_history(document: Document) -> History:
    """Return how the issued document came to be."""
    asked = ApprovalRequest.objects.filter(kind=ISSUE, target=document.pk)
    newest = {
        each.pk: each
        for each in asked.select_related("delegated_user").order_by("-pk")[:MOST_REQUESTS]
    }
    if executed := find_executed(document):
        newest.setdefault(executed.pk, executed)
    approvals = [newest[pk] for pk in sorted(newest)]
    agents = {each.connection_id: each.connection_name for each in approvals}
    if document.connection_id:
        agents.setdefault(document.connection_id, document.connection_name)
    events = read_events(
        document, approvals=[each.pk for each in approvals], connections=list(agents)
    )
    steps = _Steps(document, approvals, agents, events)
    before = read_archived_before()
    told = [
        replace(step, is_archived=before is not None and step.at < before)
        for step in sorted(steps.read(), key=lambda step: step.at)
    ]
    return History(
        steps=told,
        executed=executed,
        signature=steps.signatures.get(executed.pk if executed else document.pk),
        older_requests=asked.count() - len(approvals),
        saved_otherwise=_saved_otherwise(document, told),
    )


def _saved_otherwise(document: Document, steps: Sequence[Step]) -> int:
    """Return how often the draft was saved besides the steps: by hand, or by other agents."""
    saves = sum(each.kind in {StepKind.SAVED, StepKind.WITHDRAWN} for each in steps)
    return max(document.lock_version - 2 - saves, 0)  # one version is the first, one the issue


class _Steps:
    """Puts stored facts and the events of the same together."""

    def __init__(
        self,
        document: Document,
        approvals: Sequence[ApprovalRequest],
        agents: dict[UUID, str],
        events: Sequence[CheckedEvent],
    ) -> None:
        self.document, self.approvals, self.agents = document, approvals, agents
        self.left = list(events)
        self.signatures = read_signatures([document.pk, *(each.pk for each in approvals)])
        actors = {each.event.actor_id for each in events} - {None}
        self.people = {pk: person.name for pk, person in User.objects.in_bulk(actors).items()}

    def read(self) -> Iterator[Step]:
        yield self._made()
        for approval in self.approvals:
            yield from self._of_request(approval)
        yield self._issued()
        yield from (self._of_event(each) for each in self.left)

    def _made(self) -> Step:
        document = self.document
        return Step(
            kind=StepKind.MADE,
            at=document.created_at,
            person=document.created_by.name,
            agent=document.connection_name,
            event=self._take("drafts.create", target=document.pk),
        )

    def _of_request(self, approval: ApprovalRequest) -> Iterator[Step]:
        asked = Step(
            kind=StepKind.ASKED,
            at=approval.prepared_at,
            person=approval.delegated_user.name,
            agent=approval.connection_name,
            approval=approval,
            event=self._take_asked(approval),
        )
        yield asked
        if approval.decision and approval.decided_at:
            yield replace(
                asked,
                kind=DECIDED[Decision(approval.decision)],
                at=approval.decided_at,
                agent="",
                signature=self.signatures.get(approval.pk),
                event=self._take(f"approval:{approval.decision}", target=approval.pk),
            )
        elif not approval.replaced_at:
            yield replace(asked, kind=StepKind.EXPIRED, at=approval.expires_at, event=None)

    def _issued(self) -> Step:
        document = self.document
        executed = next((each for each in self.approvals if each.executed_at), None)
        by = executed.delegated_user if executed else document.issued_by
        step = Step(
            kind=StepKind.ISSUED,
            at=document.issued_at or document.updated_at,
            person=by.name if by else "",
            approval=executed,
        )
        if executed:
            event = self._take("documents.issue", target=executed.pk)
            return replace(step, agent=executed.connection_name, event=event)
        return replace(
            step,
            signature=self.signatures.get(document.pk),
            event=self._take("document:issued", target=document.pk),
        )

    def _of_event(self, checked: CheckedEvent) -> Step:
        event = checked.event
        is_done = event.outcome == OK and event.detail != REPLAYED
        kind = ACTIONS.get(event.action, StepKind.CALLED) if is_done else StepKind.CALLED
        agent = self.agents.get(event.connection_id, "") if event.connection_id else ""
        return Step(
            kind=kind,
            at=event.occurred_at,
            person=self.people.get(event.actor_id, "") if event.actor_id else "",
            agent="" if ":" in event.action else agent,
            event=checked,
        )

    def _take(self, action: str, *, target: UUID) -> CheckedEvent | None:
        """Return the event of a successful act about the target, once."""
        return self._take_first(lambda event: (event.action, event.target) == (action, str(target)))

    def _take_asked(self, approval: ApprovalRequest) -> CheckedEvent | None:
        """Return the event of the call that prepared it: the first of its connection since then.

        The event names the document alone, of which a connection prepares one request at a time.
        """
        asked = ("documents.issue_prepare", str(approval.target), approval.connection_id)
        return self._take_first(
            lambda event: (
                (event.action, event.target, event.connection_id) == asked
                and event.occurred_at >= approval.prepared_at
            )
        )

    def _take_first(self, is_sought: Callable[[AuditEvent], bool]) -> CheckedEvent | None:
        for each in self.left:
            is_done = each.event.outcome == OK and each.event.detail != REPLAYED
            if is_done and is_sought(each.event):
                self.left.remove(each)
                return each
        return None
