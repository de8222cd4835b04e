"""An approval's way: an agent prepares it, a person decides, and the agent executes it, once."""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from agent_access import audit, conf, signals, signing, waiting
from agent_access.approvals.errors import (
    ApprovalNotFoundError,
    ApprovalStateError,
    ConnectionEndedError,
    DecisionNotAllowedError,
)
from agent_access.approvals.kinds import ApprovalKind, Clock, kinds
from agent_access.approvals.models import ApprovalQuerySet, ApprovalRequest, Decision
from agent_access.approvals.signatures import (
    act_of,
    digest_decision,
    is_signed,
    record_refusal,
)
from agent_access.approvals.snapshots import ApprovalSnapshot
from agent_access.approvals.states import TRANSITIONS, ApprovalState
from agent_access.audit import Fact, Origin
from agent_access.calls import dump_json
from agent_access.connections import ended_connections, reload_signed_in
from agent_access.facts import Facts, canonical_json, fingerprint_of
from agent_access.signing import Proof, SignatureRefusedError
from agent_access.waiting import Question

Kind = ApprovalKind[Any]

# By which name the questions of this app are known.
SUBJECT = "approval"


class Requester(NamedTuple):
    """The connection through which an agent asks, as approvals keep it."""

    connection_id: UUID
    connection_name: str


class Executed(NamedTuple):
    """An approval that was executed, with the digest of what was done; "" where that was before."""

    approval: ApprovalRequest
    content_digest: str


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A request to execute: by which connection, with the nonce and the idempotency key it sent."""

    connection_id: UUID
    nonce: str
    key: str


def prepare(
    kind: Kind, user: Any, key: UUID, asked: Any, *, requester: Requester, clock: Clock
) -> tuple[ApprovalSnapshot, str]:
    """Ask the user to approve the act to a record as it stands; return the approval and its nonce.

    Only a digest of the nonce is stored. Raises ApprovalNotFoundError for a record that the user
    cannot see, and what the checks of the kind raise.
    """
    with transaction.atomic():
        target = kind.find(user, key, lock=True)
        if target is None:
            raise ApprovalNotFoundError
        kind.check_request(target, asked)
        [facts] = read_facts(kind, [target])
        kind.check(target)
        canonical, nonce = canonical_json(facts), secrets.token_urlsafe(32)
        now = clock()
        approval = ApprovalRequest.objects.create(
            kind=kind.name,
            happens_once=kind.happens_once,
            target=key,
            target_version=kind.version(target),
            delegated_user=user,
            connection_id=requester.connection_id,
            connection_name=requester.connection_name,
            facts=canonical,
            fingerprint=fingerprint_of(canonical),
            nonce_digest=digest_nonce(nonce),
            prepared_at=now,
            expires_at=now + kind.window,
            repeats=_replace_former(kind, user, key, requester.connection_id, now),
        )
        conf.policy().approval_prepared(approval)
        waiting.asked.send(ApprovalRequest, question=_ask(approval))
        _tell(signals.approval_prepared, approval)
    return ApprovalSnapshot(approval, target, facts, now), nonce


def _ask(approval: ApprovalRequest) -> Question:
    """Return what its person is asked: the last request of a connection for a record counts."""
    return Question(
        subject=SUBJECT,
        pk=approval.pk,
        person_id=approval.delegated_user_id,
        connection_id=approval.connection_id,
        tag=f"{approval.connection_id}:{approval.target}",
        expires_at=approval.expires_at,
    )


def _replace_former(
    kind: Kind, user: Any, key: UUID, connection_id: UUID, now: datetime
) -> int | None:
    """Take what the connection asks of the same record out of the inbox; return how often it did.

    The record is locked, so nobody else does so. What somebody is deciding at this moment stays:
    they have locked it, and wait for the record.
    """
    asked = ApprovalRequest.objects.asked_of(user).undecided_at(now).standing()
    former = asked.filter(kind=kind.name, target=key, connection_id=connection_id)
    locked = former.select_for_update(of=("self",), no_key=True, skip_locked=True)
    found = dict(locked.values_list("pk", "repeats"))
    if not found:
        return None
    ApprovalRequest.objects.filter(pk__in=found).update(replaced_at=now)
    return sum(1 + (repeats or 0) for repeats in found.values())


def digest_nonce(nonce: str) -> str:
    return hashlib.sha256(nonce.encode()).hexdigest()


def read_facts(kind: Kind, targets: Iterable[Any]) -> list[Facts]:
    """Return the facts of each target as they read once they were stored: JSON values only."""
    found = list(targets)
    told = kind.facts_of_many(found) if found else ()
    return [orjson.loads(dump_json(facts)) for facts in told]


def read_approval(approvals: ApprovalQuerySet, pk: UUID, *, now: datetime) -> ApprovalSnapshot:
    """Return one approval of the queryset as it is now; raises ApprovalNotFoundError."""
    for snapshot in read_approvals(approvals.filter(pk=pk), now=now):
        return snapshot
    raise ApprovalNotFoundError


def read_approvals(
    approvals: Iterable[ApprovalRequest], *, now: datetime
) -> list[ApprovalSnapshot]:
    """Return the approvals as they are now, in a fixed number of queries for each kind.

    Those of a kind that no installed app has registered are left out.
    """
    rows = [approval for approval in approvals if approval.kind in kinds.names]
    found = {name: _read_targets(name, rows) for name in {row.kind for row in rows}}
    gone: tuple[Any, Facts] = (None, {})
    return [_take(row, *found[row.kind].get(row.target, gone), now) for row in rows]


def _take(approval: ApprovalRequest, target: Any, facts: Facts, now: datetime) -> ApprovalSnapshot:
    return ApprovalSnapshot(approval, target, facts, now, is_signed=is_signed(approval, target))


def _read_targets(name: str, rows: Iterable[ApprovalRequest]) -> dict[UUID, tuple[Any, Facts]]:
    """Return, by key, the targets of the approvals of a kind, each with its facts."""
    kind = kinds.get(name)
    targets = kind.find_many({row.target for row in rows if row.kind == name})
    pairs = zip(targets.values(), read_facts(kind, targets.values()), strict=True)
    return dict(zip(targets, pairs, strict=True))


def decide(  # noqa: PLR0913  what the form holds, by name
    user: Any,
    pk: UUID,
    *,
    decision: Decision,
    fingerprint: str,
    reason: str,
    origin: Origin,
    proof: Proof | None = None,
) -> None:
    """Decide as write_decision does, raising what it raises, and audit each request.

    The events go to the chain of the connection that prepared the approval, a refused signature's
    in a transaction of its own. What an ended one prepared can still be rejected; to approve it
    raises ConnectionEndedError.
    """
    try:
        with transaction.atomic():
            decided = write_decision(
                user,
                pk,
                decision=decision,
                fingerprint=fingerprint,
                reason=reason,
                proof=proof,
                clock=timezone.now,
            )
            current = _audit(user, decided, f"approval:{decision}", origin)
            if decision == Decision.APPROVED:
                if approvals_of_ended_connections(decided, current):
                    raise ConnectionEndedError
                # Whoever takes a permission holds the chain's lock, too.
                _require_still_allowed(current, decided[0].approval)
    except SignatureRefusedError as refusal:
        record_refusal(ApprovalRequest.objects.asked_of(user).get(pk=pk), refusal, origin)
        raise


@transaction.atomic
def reject_all(
    user: Any, connection_id: UUID, *, origin: Origin, clock: Clock = timezone.now
) -> int:
    """Reject all that the connection asks this person, audit each, and return how many they were.

    What is stale is left out: it is over by itself. Raises DecisionNotAllowedError if the person's
    web session ended meanwhile.
    """
    locked = _lock_undecided(user, clock(), connection_id=connection_id)
    # The targets are not locked: many could wait in a circle, and a No stands whatever they become.
    found = [each for each in read_approvals(locked, now=clock()) if _is_pending(each)]
    _require_still_signed_in(user)
    if found:
        _audit(user, _write_decisions(found, Decision.REJECTED), "approval:rejected", origin)
    return len(found)


@transaction.atomic
def withdraw(user: Any, pk: UUID, *, origin: Origin, clock: Clock = timezone.now) -> None:
    """End what this person approved and the agent has not done yet, and audit it.

    The kind changes the record, which makes the approval stale. Raises ApprovalNotFoundError for
    anybody else, and out of their reach; ApprovalStateError unless it is approved and unexecuted;
    DecisionNotAllowedError if the person's web session ended meanwhile or the kind withdraws
    nothing; and what the kind raises.
    """
    snapshot = _lock_and_read(pk, seen_by=user, clock=clock, delegated_user_id=user.pk)
    kind = kinds.get(snapshot.approval.kind)
    if snapshot.state != ApprovalState.APPROVED:
        raise ApprovalStateError(snapshot.state)
    current = _require_still_signed_in(user)
    if not kind.can_withdraw:
        raise DecisionNotAllowedError
    if kind.find(current, snapshot.approval.target, lock=False) is None:
        raise ApprovalNotFoundError
    kind.withdraw(current, snapshot.target)
    _audit(user, [snapshot], "approval:withdrawn", origin)
    after = read_approval(ApprovalRequest.objects.asked_of(user), pk, now=snapshot.now)
    if after.state != ApprovalState.STALE:
        raise RuntimeError(f"{kind.name} withdrew an approval that can still be executed")


def _audit(user: Any, snapshots: Sequence[ApprovalSnapshot], action: str, origin: Origin) -> Any:
    """Append what the person did to requests of one connection; return the person as of now."""
    facts = [
        Fact(
            action=action,
            origin=origin,
            actor_id=user.pk,
            connection_id=each.approval.connection_id,
            target=str(each.approval.pk),
            detail=str(kinds.get(each.approval.kind).pk_of(each.approval.target)),
            content_digest=digest_decision(each.approval),
        )
        for each in snapshots
    ]
    audit.record_decisions(facts)
    # Whoever ends the connection or the session holds the chain's lock until that is done.
    return _require_still_signed_in(user)


def write_decision(  # noqa: PLR0913  as above
    user: Any,
    pk: UUID,
    *,
    decision: Decision,
    fingerprint: str,
    clock: Clock,
    reason: str = "",
    proof: Proof | None = None,
) -> list[ApprovalSnapshot]:
    """Store what the delegated person decided about the facts with this fingerprint.

    Return what is decided now: this request, and if it is rejected, all others that wait by which
    the connection asks for the same, in the order of their IDs.

    Raises ApprovalNotFoundError for anybody else, and ApprovalStateError if nothing is left to
    decide or (as stale) the fingerprint is not the approval's, and DecisionNotAllowedError if the
    person's web session ended meanwhile. To reject needs no more; to approve raises
    ApprovalNotFoundError, too, if the target is out of the person's reach,
    DecisionNotAllowedError if they may not approve it, and SignatureRefusedError if it has to be
    signed and the proof does not hold.
    """
    is_approval = decision == Decision.APPROVED
    with transaction.atomic():
        alike = [] if is_approval else _lock_alike(user, pk, clock())
        snapshot = _lock_and_read(
            pk, seen_by=user if is_approval else None, clock=clock, delegated_user_id=user.pk
        )
        approval = snapshot.approval
        _require_open_to(ApprovalState(decision), snapshot.state)
        if not constant_time_compare(fingerprint, approval.fingerprint):
            raise ApprovalStateError(ApprovalState.STALE)
        current = _require_still_signed_in(user)
        if is_approval:
            _require_still_allowed(current, approval)
            return _write_decisions([snapshot], decision, demand=_sign(snapshot, proof))
        others = (
            ApprovalSnapshot(each, snapshot.target, snapshot.current, snapshot.now)
            for each in alike
            if each.pk != pk
        )
        found = [snapshot, *(each for each in others if _is_pending(each))]
        found.sort(key=lambda each: each.approval.pk)
        return _write_decisions(found, decision, reason)


def _sign(snapshot: ApprovalSnapshot, proof: Proof | None) -> str:
    """Keep the signature that the approval needs, if any, and return what was demanded."""
    approval = snapshot.approval
    act = act_of(kinds.get(approval.kind), approval, snapshot.target)
    demand = signing.demand_of(act, lock=True)
    signing.sign(act, demand, proof)
    return demand


def _lock_alike(user: Any, pk: UUID, now: datetime) -> list[ApprovalRequest]:
    """Return, locked, the undecided requests by which one connection asks for the same."""
    this = ApprovalRequest.objects.asked_of(user).filter(pk=pk)
    asked = this.values("kind", "target", "connection_id").first()
    return _lock_undecided(user, now, **asked) if asked else []


def _lock_undecided(user: Any, now: datetime, **wanted: Any) -> list[ApprovalRequest]:
    """Return the person's undecided requests with these column values, locked in order of ID."""
    asked = ApprovalRequest.objects.asked_of(user).undecided_at(now).filter(**wanted)
    return list(asked.order_by("pk").select_for_update(of=("self",), no_key=True))


def _is_pending(snapshot: ApprovalSnapshot) -> bool:
    return snapshot.state == ApprovalState.PENDING


def _lock_and_read(pk: UUID, *, seen_by: Any, clock: Clock, **wanted: Any) -> ApprovalSnapshot:
    """Lock the approval that has these column values and its target, and read the facts.

    The clock is read after the locks, for which this may have waited. Raises ApprovalNotFoundError
    if there is none, or `seen_by` cannot see the target.
    """
    approval, target = lock_approval(pk, seen_by=seen_by, **wanted)
    [facts] = read_facts(kinds.get(approval.kind), [target]) if target else [{}]
    if seen_by is not None:
        approval.delegated_user = seen_by  # whose it is: read already
    return _take(approval, target, facts, clock())


def lock_approval(pk: UUID, *, seen_by: Any, **wanted: Any) -> tuple[ApprovalRequest, Any]:
    """Return the approval that has these column values, then its target, both locked.

    The target is None where it is gone; `seen_by` None sees every target. Raises
    ApprovalNotFoundError.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a row is locked inside a transaction or not at all")
    asked = ApprovalRequest.objects.filter(pk=pk, kind__in=kinds.names, **wanted)
    approval = asked.select_for_update(of=("self",), no_key=True).first()
    if approval is None:
        raise ApprovalNotFoundError
    kind = kinds.get(approval.kind)
    target = kind.find(seen_by, approval.target, lock=True)
    is_removed = kind.removes_target and approval.executed_at is not None
    if target is None and seen_by is not None and not is_removed:
        raise ApprovalNotFoundError
    return approval, target


def _require_open_to(following: ApprovalState, state: ApprovalState) -> None:
    """Raise ApprovalStateError if no transition leads from the state to the following one."""
    if (state, following) not in TRANSITIONS:
        raise ApprovalStateError(state)


def _require_still_signed_in(user: Any) -> Any:
    """Return the person as of now; raises DecisionNotAllowedError if the web session ended."""
    current = reload_signed_in(user)
    if current is None:
        raise DecisionNotAllowedError
    return current


def _require_still_allowed(current: Any, approval: ApprovalRequest) -> None:
    """Check the person's right and reach again, after the wait for the locks."""
    kind = kinds.get(approval.kind)
    if not kind.may_approve(current):
        raise DecisionNotAllowedError
    if kind.find(current, approval.target, lock=False) is None:
        raise ApprovalNotFoundError


def _write_decisions(
    snapshots: Sequence[ApprovalSnapshot],
    decision: Decision,
    rejection_reason: str = "",
    *,
    demand: str | None = None,
) -> list[ApprovalSnapshot]:
    """Store the decision of all these, or raise ApprovalStateError and store none."""
    now = snapshots[0].now
    pks = [each.approval.pk for each in snapshots]
    decided = {
        "decision": decision,
        "decided_at": now,
        "rejection_reason": rejection_reason,
        "demand": demand,
    }
    if decision == Decision.APPROVED:
        decided["replaced_at"] = None  # it stands by itself now
    undecided = ApprovalRequest.objects.undecided_at(now).filter(pk__in=pks)
    if undecided.update(**decided) != len(pks):
        raise ApprovalStateError(snapshots[0].state)
    for snapshot in snapshots:
        for name, value in decided.items():
            setattr(snapshot.approval, name, value)
        conf.policy().approval_decided(snapshot.approval)
        _tell(signals.approval_decided, snapshot.approval)
    return [ApprovalSnapshot(each.approval, each.target, each.current, now) for each in snapshots]


def execute(kind: Kind, user: Any, pk: UUID, execution: Execution, *, clock: Clock) -> Executed:
    """Do what was approved, once, and keep what the kind answers as the result.

    The same connection, nonce and key get the kept result again. Raises ApprovalNotFoundError for
    another connection or nonce, ApprovalStateError unless it is approved, and what the kind raises.
    """
    with transaction.atomic():
        snapshot = _lock_and_read(
            pk,
            seen_by=user,
            clock=clock,
            kind=kind.name,
            delegated_user_id=user.pk,
            connection_id=execution.connection_id,
        )
        approval = snapshot.approval
        if not constant_time_compare(digest_nonce(execution.nonce), approval.nonce_digest):
            raise ApprovalNotFoundError
        if snapshot.state == ApprovalState.EXECUTED and approval.execute_key == execution.key:
            return Executed(approval, content_digest="")
        _require_open_to(ApprovalState.EXECUTED, snapshot.state)
        return _execute(kind, snapshot, execution.key, clock)


def _execute(kind: Kind, snapshot: ApprovalSnapshot, key: str, clock: Clock) -> Executed:
    """Do it, and write that the approval, which is locked, was executed.

    Should the lock fail: the database executes no approval twice, too late, or undecided.
    """
    approval = snapshot.approval
    _require_not_done(approval)
    kind.check(snapshot.target)
    outcome = kind.execute(snapshot, clock=clock)
    now = kind.executed_at(outcome, clock=clock)
    # Executing may have waited for a lock until the window was over.
    if now >= approval.expires_at:
        raise ApprovalStateError(ApprovalState.EXPIRED)
    approval.executed_at, approval.execute_key = now, key
    executed = ApprovalSnapshot(approval, snapshot.target, snapshot.current, now)
    result = kind.answer_execution(executed, outcome)
    approval.result = dump_json(result).decode()
    approval.save(update_fields=["executed_at", "execute_key", "result"])
    conf.policy().approval_executed(approval, result)
    _tell(signals.approval_executed, approval, result=result)
    return Executed(approval, kind.content_digest(executed, outcome))


def _tell(signal: Signal, approval: ApprovalRequest, **told: Any) -> None:
    signals.send_on_commit(signal, ApprovalRequest, approval=approval, **told)


def _require_not_done(approval: ApprovalRequest) -> None:
    """Raise ApprovalStateError, as stale, if another approval of what happens once was executed."""
    same = ApprovalRequest.objects.filter(kind=approval.kind, target=approval.target)
    done = same.filter(happens_once=True, executed_at__isnull=False).exclude(pk=approval.pk)
    if approval.happens_once and done.exists():
        raise ApprovalStateError(ApprovalState.STALE)


def approvals_of_ended_connections(snapshots: Iterable[ApprovalSnapshot], user: Any) -> set[UUID]:
    """Return the IDs of this person's approvals whose connection has ended: it executes none."""
    connections = {each.approval.pk: each.approval.connection_id for each in snapshots}
    found = ended_connections(user).filter(pk__in=connections.values())
    ended = set(found.values_list("pk", flat=True))
    return {pk for pk, connection_id in connections.items() if connection_id in ended}
