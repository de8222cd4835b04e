"""Issuing with a person's approval: prepare, decide, execute (interface, "Issue approval")."""

import hashlib
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.utils.crypto import constant_time_compare
from django.utils.functional import cached_property

from agent_access.facts import canonical_json, find_differences, fingerprint_of
from invoicing.access import APPROVE_PERMISSIONS
from invoicing.approval_states import TRANSITIONS, WINDOW, ApprovalState, state_of
from invoicing.errors import ApprovalStateError, RecordNotFoundError
from invoicing.locks import (
    lock_approval,
    lock_draft,
    require_still_allowed,
    require_still_signed_in,
)
from invoicing.models import Decision, Document, IssueApproval, User
from invoicing.models.records import RecordQuerySet
from invoicing.services.document_facts import Facts, read_facts
from invoicing.services.drafts import ConnectionRef, name_conflict
from invoicing.services.issuing import Clock, issue_locked, require_issuable

# Returns the JSON that executing answers, to be stored for retries.
SerialiseResult = Callable[["ApprovalSnapshot", Document], str]


@dataclass(frozen=True)
class ApprovalSnapshot:
    """An approval with the facts of its draft as they are at the moment `now`."""

    approval: IssueApproval
    current: Facts
    now: datetime

    @cached_property
    def prepared(self) -> Facts:
        facts: Facts = orjson.loads(self.approval.facts)
        return facts

    @cached_property
    def stale_fields(self) -> list[str]:
        """The dotted paths of the facts that differ from what was prepared; none once executed."""
        if self.approval.executed_at is not None:
            return []
        return list(find_differences(self.prepared, self.current))

    @cached_property
    def state(self) -> ApprovalState:
        return state_of(self.approval, is_unchanged=not self.stale_fields, now=self.now)


def digest_nonce(nonce: str) -> str:
    return hashlib.sha256(nonce.encode()).hexdigest()


def find_executed(document: Document) -> IssueApproval | None:
    """Return the approval by which the document was issued, or None if a person issued it."""
    executed = IssueApproval.objects.filter(document=document, executed_at__isnull=False)
    return executed.select_related("delegated_user").first()


def prepare_approval(
    user: User, document_id: UUID, *, lock_version: int, connection: ConnectionRef, clock: Clock
) -> tuple[ApprovalSnapshot, str]:
    """Ask the user to approve the issue of a draft as it stands; return the approval and its nonce.

    Only a digest of the nonce is stored. Raises RecordNotFoundError, ConflictError if the document
    is no draft invoice at this version, or cannot be issued as it is stored.
    """
    with transaction.atomic(savepoint=False):
        document = lock_draft(document_id, visible_to=user)
        if not document.is_draft_invoice or document.lock_version != lock_version:
            raise name_conflict(document)
        [facts] = read_facts([document])
        require_issuable(document)
        canonical, nonce = canonical_json(facts), secrets.token_urlsafe(32)
        now = clock()
        approval = IssueApproval.objects.create(
            document=document,
            delegated_user=user,
            **connection._asdict(),
            lock_version=lock_version,
            facts=canonical,
            fingerprint=fingerprint_of(canonical),
            nonce_digest=digest_nonce(nonce),
            prepared_at=now,
            expires_at=now + WINDOW,
        )
    return ApprovalSnapshot(approval, facts, now), nonce


def read_approval(
    approvals: RecordQuerySet[IssueApproval], pk: UUID, *, now: datetime
) -> ApprovalSnapshot:
    """Return one approval of the queryset as it is now; raises RecordNotFoundError."""
    approval = approvals.select_related("document__customer").find(pk)
    return read_approvals([approval], now=now)[0]


def read_approvals(approvals: Iterable[IssueApproval], *, now: datetime) -> list[ApprovalSnapshot]:
    """Return the approvals as they are now, in a fixed number of queries."""
    rows = list(approvals)
    if not rows:
        return []
    current = read_facts([approval.document for approval in rows])
    return [ApprovalSnapshot(*pair, now) for pair in zip(rows, current, strict=True)]


def _lock_and_read(
    pk: UUID, *, visible_to: User | None, clock: Clock, **wanted: Any
) -> ApprovalSnapshot:
    """Lock the approval that has these column values and its document, and read the facts.

    The clock is read after the locks, for which this may have waited. Raises RecordNotFoundError
    if there is none, or `visible_to` cannot see the document.
    """
    approval = lock_approval(pk, visible_to=visible_to, **wanted)
    return read_approvals([approval], now=clock())[0]


def _require_open_to(following: ApprovalState, state: ApprovalState) -> None:
    """Raise ApprovalStateError if no transition leads from the state to the following one."""
    if (state, following) not in TRANSITIONS:
        raise ApprovalStateError(state)


def write_decision(
    user: User, pk: UUID, *, decision: Decision, fingerprint: str, reason: str = "", clock: Clock
) -> ApprovalSnapshot:
    """Store what the delegated person decided about the facts with this fingerprint.

    Raises RecordNotFoundError for anybody else, and ApprovalStateError if nothing is left to decide
    or (as stale) the fingerprint is not the approval's, and PermissionMissingError if the person's
    web session ended meanwhile. To reject needs no more; to approve raises RecordNotFoundError,
    too, if the document is out of the person's reach, and PermissionMissingError without the
    permissions to see documents and to issue them.
    """
    is_approval = decision == Decision.APPROVED
    with transaction.atomic(savepoint=False):
        snapshot = _lock_and_read(
            pk, delegated_user_id=user.pk, visible_to=user if is_approval else None, clock=clock
        )
        approval = snapshot.approval
        _require_open_to(ApprovalState(decision), snapshot.state)
        if not constant_time_compare(fingerprint, approval.fingerprint):
            raise ApprovalStateError(ApprovalState.STALE)
        if is_approval:
            require_still_allowed(user, approval.document_id, *APPROVE_PERMISSIONS)
        else:
            require_still_signed_in(user)
        return _write_decision(snapshot, decision, "" if is_approval else reason)


def _write_decision(
    snapshot: ApprovalSnapshot, decision: Decision, rejection_reason: str
) -> ApprovalSnapshot:
    approval, now = snapshot.approval, snapshot.now
    undecided = IssueApproval.objects.filter(pk=approval.pk, decision="", expires_at__gt=now)
    decided = {"decision": decision, "decided_at": now, "rejection_reason": rejection_reason}
    if not undecided.update(**decided):
        raise ApprovalStateError(snapshot.state)
    for name, value in decided.items():
        setattr(approval, name, value)
    return ApprovalSnapshot(approval, snapshot.current, now)


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A request to execute: by which connection, with the nonce and the idempotency key it sent."""

    connection_id: UUID
    nonce: str
    key: str


def execute_approval(
    user: User, pk: UUID, execution: Execution, *, clock: Clock, serialise_result: SerialiseResult
) -> IssueApproval:
    """Issue the approved draft, once, and store what `serialise_result` returns as the result.

    The same connection, nonce and key get the stored result again. Raises RecordNotFoundError for
    another connection or nonce, ApprovalStateError unless it is approved, and ConflictError if the
    draft cannot be issued.
    """
    with transaction.atomic(savepoint=False):
        snapshot = _lock_and_read(
            pk,
            delegated_user_id=user.pk,
            connection_id=execution.connection_id,
            visible_to=user,
            clock=clock,
        )
        approval = snapshot.approval
        if not constant_time_compare(digest_nonce(execution.nonce), approval.nonce_digest):
            raise RecordNotFoundError
        if snapshot.state == ApprovalState.EXECUTED and approval.execute_key == execution.key:
            return approval
        _require_open_to(ApprovalState.EXECUTED, snapshot.state)
        return _issue(snapshot, execution.key, clock, serialise_result)


def _issue(
    snapshot: ApprovalSnapshot, key: str, clock: Clock, serialise_result: SerialiseResult
) -> IssueApproval:
    """Issue the draft and write that the approval, which is locked, was executed.

    Should the lock fail: the database executes no approval twice, too late, or undecided.
    """
    approval = snapshot.approval
    document = issue_locked(
        approval.document, snapshot.current, issued_by_id=approval.delegated_user_id, clock=clock
    )
    now = document.issued_at
    # Issuing may have waited for the number series until the window was over.
    if now is None or now >= approval.expires_at:
        raise ApprovalStateError(ApprovalState.EXPIRED)
    approval.executed_at, approval.execute_key = now, key
    executed = ApprovalSnapshot(approval, snapshot.current, now)
    approval.result = serialise_result(executed, document)
    approval.save(update_fields=["executed_at", "execute_key", "result"])
    return approval
