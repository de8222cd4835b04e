"""Approvals for tests: prepared, decided and executed as the application does it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from agent_access.approvals.engine import (
    Execution,
    Requester,
    execute,
    read_approval,
    write_decision,
)
from agent_access.approvals.engine import (
    prepare as prepare_approval,
)
from agent_access.approvals.inbox import visible_to
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.facts import fingerprint_facts
from invoicing.agent_tools.inputs import IssuePrepareInput
from invoicing.agent_tools.issue_approvals import ISSUE_APPROVAL
from invoicing.models import Document, DocumentStatus, User
from invoicing.services.document_facts import read_facts, read_parts
from invoicing.services.drafts import ConnectionRef
from invoicing.services.issued_content import digest_content
from invoicing.services.issuing import Clock
from tests.clocks import at
from tests.factories import make_connection_ref

PREPARED_AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
A_MINUTE_LATER = PREPARED_AT + timedelta(minutes=1)
TEN_MINUTES_LATER = PREPARED_AT + timedelta(minutes=10)


def fingerprint_draft(draft: Document) -> str:
    """Return the fingerprint that the form of issuing by hand would carry."""
    [facts] = read_facts([draft])
    return fingerprint_facts(facts)


def digest_issued(pk: UUID | str) -> str:
    """Return the digest of an issued document as the database holds it."""
    document = Document.objects.get(pk=pk, status=DocumentStatus.ISSUED)
    read_parts([document])
    return digest_content(document)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """An approval with its draft, and the nonce that only its agent knows; acts by the engine."""

    user: User
    approval: ApprovalRequest
    document: Document
    nonce: str

    def read(self, *, now: datetime = A_MINUTE_LATER) -> ApprovalSnapshot:
        return read_approval(visible_to(self.user), self.approval.pk, now=now)

    def decide(
        self,
        decision: Decision = Decision.APPROVED,
        *,
        now: datetime = A_MINUTE_LATER,
        **changes: Any,
    ) -> ApprovalSnapshot:
        asked: dict[str, Any] = {
            "fingerprint": self.approval.fingerprint,
            "clock": at(now),
            "decision": decision,
        }
        decided = write_decision(self.user, self.approval.pk, **(asked | changes))
        return next(each for each in decided if each.approval.pk == self.approval.pk)

    def execute(
        self,
        *,
        key: str = "execute",
        nonce: str | None = None,
        now: datetime = A_MINUTE_LATER,
        clock: Clock | None = None,
    ) -> ApprovalRequest:
        execution = Execution(
            connection_id=self.approval.connection_id,
            nonce=self.nonce if nonce is None else nonce,
            key=key,
        )
        return execute(
            ISSUE_APPROVAL, self.user, self.approval.pk, execution, clock=clock or at(now)
        ).approval


def prepare(
    draft: Document,
    *,
    user: User,
    connection: ConnectionRef | None = None,
    now: datetime = PREPARED_AT,
    clock: Clock | None = None,
) -> Prepared:
    """Ask the user to approve the issue of the draft as it stands."""
    snapshot, nonce = prepare_approval(
        ISSUE_APPROVAL,
        user,
        draft.pk,
        IssuePrepareInput(lock_version=draft.lock_version),
        requester=Requester(*(connection or make_connection_ref())),
        clock=clock or at(now),
    )
    return Prepared(user=user, approval=snapshot.approval, document=snapshot.target, nonce=nonce)
