"""Issuing with a person's hand: prepare, decide, execute."""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import constant_time_compare

from invoicing.access import Permission, demand_still_allowed, documents_visible_to
from invoicing.approval_states import (
    TRANSITIONS,
    WINDOW,
    ApprovalState,
    StoredFacts,
    Trigger,
    state_of,
)
from invoicing.errors import ApprovalStateError, ConflictError, RecordNotFoundError
from invoicing.locks import APPROVALS, joined_transaction, lock_approval, lock_draft
from invoicing.models import Company, Decision, Document, IssueApproval, User
from invoicing.services.company import current_company
from invoicing.services.document_facts import (
    Facts,
    canonical_json,
    find_differences,
    fingerprint_of,
    read_facts,
)
from invoicing.services.draft_input import Maker
from invoicing.services.issuing import Clock, issue_locked, require_issuable

SerialiseResult = Callable[["ApprovalSnapshot", Document], str]


@dataclass(frozen=True)
class ApprovalSnapshot:
    """An approval beside its draft as it stands now, at one moment."""

    approval: IssueApproval
    current: Facts
    now: datetime

    @cached_property
    def prepared(self) -> Facts:
        facts: Facts = json.loads(self.approval.facts)
        return facts

    @cached_property
    def stale_fields(self) -> list[str]:
        """The paths that differ from what was prepared; none once the approval is executed."""
        if self.approval.executed_at is not None:
            return []
        return list(find_differences(self.prepared, self.current))

    @cached_property
    def state(self) -> ApprovalState:
        facts = StoredFacts(
            expires_at=self.approval.expires_at,
            is_unchanged=not self.stale_fields,
            is_approved=self.approval.decision == Decision.APPROVED,
            is_rejected=self.approval.decision == Decision.REJECTED,
            is_executed=self.approval.executed_at is not None,
        )
        return state_of(facts, now=self.now)


def digest_nonce(nonce: str) -> str:
    return hashlib.sha256(nonce.encode()).hexdigest()


def approvals_asked_of(user: User) -> QuerySet[IssueApproval]:
    """Return the approvals that await or had this person's decision, whatever he may see now."""
    return IssueApproval.objects.filter(delegated_user=user)


def approvals_visible_to(user: User) -> QuerySet[IssueApproval]:
    """Return those of documents in his scope: of the others he learns nothing but that they are."""
    return approvals_asked_of(user).filter(document__in=documents_visible_to(user).values("id"))


def find_executed(document: Document) -> IssueApproval | None:
    """Return the approval by which the document was issued; one issued by hand has none."""
    executed = IssueApproval.objects.filter(document=document, executed_at__isnull=False)
    return executed.select_related("delegated_user").first()


def prepare_approval(
    user: User, document_id: UUID, *, lock_version: int, maker: Maker, clock: Clock
) -> tuple[ApprovalSnapshot, str]:
    """Ask the user to approve the issue of a draft as it stands; return it with its nonce.

    The nonce is not stored. Raises RecordNotFoundError, ConflictError where the document is no
    draft invoice at this version, InactiveReferenceError.
    """
    with joined_transaction():
        document = lock_draft(document_id, visible_to=user)
        if not document.is_draft_invoice or document.lock_version != lock_version:
            raise ConflictError
        require_issuable(document)
        [facts] = read_facts([document], seller=current_company())
        canonical, nonce = canonical_json(facts), secrets.token_urlsafe(32)
        now = clock()
        approval = IssueApproval.objects.create(
            document=document,
            delegated_user=user,
            connection_id=maker.connection_id,
            connection_name=maker.connection_name,
            lock_version=lock_version,
            facts=canonical,
            fingerprint=fingerprint_of(canonical),
            nonce_digest=digest_nonce(nonce),
            prepared_at=now,
            expires_at=now + WINDOW,
        )
    return ApprovalSnapshot(approval, facts, now), nonce


def read_approval(
    approvals: QuerySet[IssueApproval], pk: UUID, *, now: datetime
) -> ApprovalSnapshot:
    """Return an approval of the queryset as it stands; raises RecordNotFoundError."""
    approval = approvals.select_related("document__customer").filter(pk=pk).first()
    if approval is None:
        raise RecordNotFoundError
    return read_approvals([approval], now=now)[0]


def read_approvals(approvals: Iterable[IssueApproval], *, now: datetime) -> list[ApprovalSnapshot]:
    """Return the approvals as they stand, in a number of queries that does not grow with them."""
    rows = list(approvals)
    return _take_snapshots(rows, current_company(), now) if rows else []


def _take_snapshots(
    approvals: Sequence[IssueApproval], seller: Company, now: datetime
) -> list[ApprovalSnapshot]:
    current = read_facts([approval.document for approval in approvals], seller=seller)
    return [ApprovalSnapshot(*pair, now) for pair in zip(approvals, current, strict=True)]


def _lock_and_read(
    pk: UUID, *, visible_to: User | None, clock: Clock, **wanted: Any
) -> tuple[ApprovalSnapshot, Company]:
    """Lock the approval with these facts, then its document, and look at both, at the time by then.

    Returns the seller too, as he was looked at. Raises RecordNotFoundError where there is none, or
    the document is not in his scope to whom it must be visible.
    """
    approval = lock_approval(pk, **wanted)
    approval.document = lock_draft(approval.document_id, visible_to=visible_to)
    seller = current_company()
    [snapshot] = _take_snapshots([approval], seller, clock())
    return snapshot, seller


def _demand_open_to(trigger: Trigger, state: ApprovalState) -> None:
    if (state, trigger) not in TRANSITIONS:
        raise ApprovalStateError(state)


def decide_approval(
    user: User,
    pk: UUID,
    *,
    decision: Decision,
    fingerprint: str,
    reason: str = "",
    clock: Clock,
) -> ApprovalSnapshot:
    """Write down what the delegated person decided about exactly what was shown.

    To say No he needs nothing but to be that person. Raises RecordNotFoundError for everybody
    else, and to approve a document out of his scope; PermissionMissingError to approve without
    the permission to issue; ApprovalStateError where there is nothing to decide any more.
    """
    is_approval = decision == Decision.APPROVED
    with transaction.atomic():
        snapshot, _ = _lock_and_read(
            pk, delegated_user_id=user.pk, visible_to=user if is_approval else None, clock=clock
        )
        approval = snapshot.approval
        _demand_open_to(Trigger.APPROVE if is_approval else Trigger.REJECT, snapshot.state)
        if not constant_time_compare(fingerprint, approval.fingerprint):
            raise ApprovalStateError(ApprovalState.STALE)
        if is_approval:
            demand_still_allowed(user, approval.document_id, Permission.FINALIZE)
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
    """Who executes: the connection that prepared the approval, its nonce, and a key of its own."""

    connection_id: UUID
    nonce: str
    key: str


def execute_approval(
    user: User, pk: UUID, execution: Execution, *, clock: Clock, serialise_result: SerialiseResult
) -> IssueApproval:
    """Issue the approved draft, once, and keep what `serialise_result` says of it as the result.

    The same connection, nonce and key get the same result again. Raises RecordNotFoundError for
    another connection or nonce, and ApprovalStateError unless it is approved.
    """
    with joined_transaction():
        snapshot, seller = _lock_and_read(
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
        _demand_open_to(Trigger.EXECUTE, snapshot.state)
        return _issue(snapshot, seller, execution.key, clock, serialise_result)


def _issue(
    snapshot: ApprovalSnapshot,
    seller: Company,
    key: str,
    clock: Clock,
    serialise_result: SerialiseResult,
) -> IssueApproval:
    approval = snapshot.approval
    document = issue_locked(approval.document, seller=seller, clock=clock)
    now = document.issued_at
    # The number series may have been waited for until it was too late.
    if now is None or now >= approval.expires_at:
        raise ApprovalStateError(ApprovalState.EXPIRED)
    approval.executed_at = now
    approval.execute_key = key
    approval.result = serialise_result(ApprovalSnapshot(approval, snapshot.current, now), document)
    executed = {"executed_at": now, "execute_key": key, "result": approval.result}
    unused = APPROVALS.equal(id=approval.pk, decision=Decision.APPROVED, executed_at=None)
    unexpired = "record.expires_at > %s", [APPROVALS.adapt("expires_at", now)]
    if not APPROVALS.update(executed, unused, unexpired):
        raise ApprovalStateError(ApprovalState.EXECUTED)
    return approval
