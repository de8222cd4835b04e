"""The interface's state table, row by row and both ways round."""

from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest

from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.states import (
    TRANSITIONS,
    ApprovalState,
    state_of,
)
from invoicing.agent_tools.issue_approvals import ISSUE_APPROVAL
from invoicing.models import Document
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, TEN_MINUTES_LATER, Prepared, prepare
from tests.factories import make_draft
from tests.snapshots import take_snapshot

MOMENT = timedelta(microseconds=1)
# The states to which somebody leads an approval.
LED_TO = {following for _, following in TRANSITIONS}


def change_draft(prepared: Prepared) -> None:
    Document.objects.filter(pk=prepared.approval.target).update(reference="PO 8")


def bring_to(state: ApprovalState, prepared: Prepared):
    """Do what brings a pending approval to the state; return the time at which to look at it."""
    if state == ApprovalState.REJECTED:
        prepared.decide(Decision.REJECTED)
    if state in {ApprovalState.APPROVED, ApprovalState.EXECUTED}:
        prepared.decide()
    if state == ApprovalState.EXECUTED:
        prepared.execute()
    if state == ApprovalState.STALE:
        change_draft(prepared)
    return TEN_MINUTES_LATER if state == ApprovalState.EXPIRED else A_MINUTE_LATER


def lead_to(following: ApprovalState, prepared: Prepared, *, now):
    if following == ApprovalState.EXECUTED:
        return prepared.execute(key="another-key", now=now)
    return prepared.decide(Decision(following), now=now)


@pytest.fixture
def prepared(delegate):
    return prepare(make_draft(user=delegate), user=delegate)


@pytest.mark.requirement("approval.approve", "approval.reject", "approval.execute")
@pytest.mark.parametrize(("state", "following"), sorted(TRANSITIONS))
def test_a_transition_of_the_table_leads_to_its_state(prepared, state, following):
    now = bring_to(state, prepared)

    lead_to(following, prepared, now=now)

    assert prepared.read(now=now).state == following


@pytest.mark.requirement(
    "approval.execute_undecided",
    "approval.other_key",
    "approval.expires",
    "approval.becomes_stale",
)
@pytest.mark.parametrize(
    ("state", "following"), sorted(set(product(ApprovalState, LED_TO)) - TRANSITIONS)
)
def test_what_is_not_in_the_table_is_refused_and_changes_nothing(prepared, state, following):
    now = bring_to(state, prepared)
    before = take_snapshot()

    with pytest.raises(ApprovalStateError) as refusal:
        lead_to(following, prepared, now=now)

    assert refusal.value.state == state
    assert take_snapshot() == before
    assert prepared.read(now=now).state == state


def test_the_table_holds_the_three_transitions_of_the_interface():
    assert {
        ("pending", "approved"),
        ("pending", "rejected"),
        ("approved", "executed"),
    } == TRANSITIONS


def state_at(
    now: datetime, *, is_changed: bool = False, is_signed: bool = True, **facts: Any
) -> ApprovalState:
    approval = ApprovalRequest(expires_at=TEN_MINUTES_LATER, **facts)
    return state_of(approval, is_unchanged=not is_changed, is_signed=is_signed, now=now)


@pytest.mark.parametrize("is_executed", [True, False])
@pytest.mark.parametrize("is_expired", [True, False])
@pytest.mark.parametrize("is_changed", [True, False])
@pytest.mark.parametrize("decision", ["", *Decision])
def test_the_first_fact_that_holds_decides(is_executed, is_expired, is_changed, decision):
    state = state_at(
        TEN_MINUTES_LATER if is_expired else PREPARED_AT,
        is_changed=is_changed,
        decision=decision,
        executed_at=PREPARED_AT if is_executed else None,
    )

    if is_executed:
        assert state == "executed"
    elif decision == Decision.REJECTED:
        assert state == "rejected"
    elif is_expired:
        assert state == "expired"
    elif is_changed:
        assert state == "stale"
    else:
        assert state == (decision or "pending")


@pytest.mark.requirement("limit.approval_window")
def test_an_approval_without_the_signature_that_it_needs_is_none():
    assert state_at(PREPARED_AT, is_signed=False, decision="approved") == "pending"
    assert state_at(PREPARED_AT, is_signed=False, decision="rejected") == "rejected"


def test_at_exactly_ten_minutes_it_has_expired():
    assert timedelta(minutes=10) == ISSUE_APPROVAL.window
    assert state_at(TEN_MINUTES_LATER - MOMENT) == "pending"
    assert state_at(TEN_MINUTES_LATER) == "expired"
