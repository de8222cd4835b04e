"""What a project does with an approval: in its transaction by the policy, after it by a signal."""

import json
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from django.dispatch import Signal

from agent_access import signals
from agent_access.approvals import engine
from agent_access.approvals.errors import ConnectionEndedError, DecisionNotAllowedError
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import SYSTEM
from agent_access.calls import dump_json
from agent_access.connections import revoke_connection
from agent_access.errors import ConflictError
from agent_access.models import RevokedReason
from agent_access.policy import Policy
from tests.interface.issuing import execute, prepare
from tests.snapshots import take_snapshot

STEPS = ("approval_prepared", "approval_decided", "approval_executed")

Heard = list[tuple[Any, ...]]


@pytest.fixture
def draft(agent, draft_body) -> str:
    return str(agent.call("drafts.create", draft_body, key="draft").data["id"])


@pytest.fixture
def done(monkeypatch) -> Heard:
    """Return the list of what the policy was called for, and whether in a transaction."""
    heard: Heard = []

    def hear(step: str) -> Callable[..., None]:
        def keep(_: Policy, approval: ApprovalRequest, *result: Any) -> None:
            assert transaction.get_connection().in_atomic_block
            heard.append((step, approval.pk, approval.decision, *result))

        return keep

    for step in STEPS:
        monkeypatch.setattr(Policy, step, hear(step))
    return heard


@pytest.fixture
def told():
    """Return the list of what was told by signals."""
    heard: Heard = []

    def listen(step: str) -> Callable[..., None]:
        def receive(sender: type, signal: Signal, approval: ApprovalRequest, **known: Any) -> None:
            assert sender is ApprovalRequest
            heard.append((step, approval.pk, approval.decision, *known.values()))

        return receive

    receivers = {step: listen(step) for step in STEPS}
    for step, receive in receivers.items():
        getattr(signals, step).connect(receive)
    yield heard
    for step, receive in receivers.items():
        getattr(signals, step).disconnect(receive)


def decide(decision: Decision = Decision.APPROVED) -> None:
    approval = ApprovalRequest.objects.get()
    engine.decide(
        approval.delegated_user,
        approval.pk,
        decision=decision,
        fingerprint=approval.fingerprint,
        reason="",
        origin=SYSTEM,
    )


@pytest.mark.django_db(transaction=True)
def test_each_step_is_done_in_its_transaction_and_told_after_it_and_a_replay_is_neither(
    agent, draft, done, told
):
    asked, _again = [prepare(agent, draft).data for _ in range(2)]
    decide()
    issued, _again = [execute(agent, asked).data for _ in range(2)]
    approval = ApprovalRequest.objects.get()
    assert [each[:3] for each in done] == [
        ("approval_prepared", approval.pk, ""),
        ("approval_decided", approval.pk, "approved"),
        ("approval_executed", approval.pk, "approved"),
    ]
    assert json.loads(dump_json(done[-1][3])) == issued
    # What the signals carry is looked at later than when they were sent.
    assert [(step, pk, *result) for step, pk, _, *result in told] == [
        (step, pk, *result) for step, pk, _, *result in done
    ]


@pytest.mark.django_db(transaction=True)
def test_a_rejection_is_a_decision(agent, draft, done, told):
    prepare(agent, draft)
    decide(Decision.REJECTED)
    assert [each[::2] for each in done] == [
        ("approval_prepared", ""),
        ("approval_decided", "rejected"),
    ]
    assert told == done


def refuse_step(monkeypatch, step: str, error: type[Exception]) -> None:
    def refuse(*_: Any) -> NoReturn:
        # What was written meanwhile is undone as well.
        Group.objects.create(name="Told")
        raise error

    monkeypatch.setattr(Policy, step, refuse)


@pytest.mark.django_db(transaction=True)
def test_a_policy_that_refuses_leaves_nothing_of_the_step(agent, draft, monkeypatch, told):
    with monkeypatch.context() as patched:
        refuse_step(patched, "approval_prepared", ConflictError)
        before = take_snapshot()
        assert prepare(agent, draft).status == 409
        assert take_snapshot() == before
    asked = prepare(agent, draft).data

    with monkeypatch.context() as patched:
        refuse_step(patched, "approval_decided", DecisionNotAllowedError)
        before = take_snapshot()
        with pytest.raises(DecisionNotAllowedError):
            decide()
        assert take_snapshot() == before
    decide()

    with monkeypatch.context() as patched:
        refuse_step(patched, "approval_executed", ConflictError)
        before = take_snapshot()
        assert execute(agent, asked).status == 409
        assert take_snapshot() == before
    assert [step for step, *_ in told] == ["approval_prepared", "approval_decided"]
    # Nor does it keep the same call from being done later.
    assert execute(agent, asked).status == 200
    assert [step for step, *_ in told] == [*STEPS]


@pytest.mark.django_db(transaction=True)
def test_a_decision_that_is_refused_after_the_policy_did_its_part_is_not_told(
    agent, connection, draft, done, told
):
    prepare(agent, draft)
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    told.clear()
    with pytest.raises(ConnectionEndedError):
        decide()
    assert [step for step, *_ in done] == ["approval_prepared", "approval_decided"]
    assert told == []
    assert ApprovalRequest.objects.get().decision == ""
