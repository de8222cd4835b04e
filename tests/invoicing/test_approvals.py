import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from agent_access.approvals import engine
from agent_access.approvals.errors import (
    ApprovalNotFoundError,
    ApprovalStateError,
    DecisionNotAllowedError,
)
from agent_access.approvals.models import ApprovalRequest, Decision
from invoicing.access import Permission
from invoicing.errors import ConflictError
from invoicing.models import Document, Line, User
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, TEN_MINUTES_LATER, prepare
from tests.factories import line_input, make_connection_ref, make_draft, withdraw
from tests.snapshots import take_snapshot


@pytest.fixture
def draft(delegate, customer, tax_rate):
    return make_draft(
        user=delegate, customer=customer, lines=(line_input(tax_rate_id=tax_rate.id),)
    )


@pytest.fixture
def prepared(delegate, draft):
    return prepare(draft, user=delegate)


def refuse(error, action: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Run the action, which must raise exactly the error and change nothing."""
    before = take_snapshot()
    with pytest.raises(error) as refusal:
        action(*args, **kwargs)
    assert type(refusal.value) is error
    assert take_snapshot() == before


@pytest.mark.requirement("approval.created_by_prepare", "approval.window")
def test_preparing_keeps_the_facts_and_ten_minutes_and_no_nonce(delegate, draft):
    maker = make_connection_ref("Ledger agent")
    prepared = prepare(draft, user=delegate, connection=maker)
    kept = ApprovalRequest.objects.get()

    assert (kept.target, kept.delegated_user_id) == (draft.id, delegate.id)
    assert (kept.connection_id, kept.connection_name) == (maker.connection_id, "Ledger agent")
    assert (kept.prepared_at, kept.expires_at) == (PREPARED_AT, TEN_MINUTES_LATER)
    assert json.loads(kept.facts) == prepared.read().current
    assert prepared.nonce not in str(take_snapshot())


@pytest.mark.parametrize(
    "columns",
    [{"discount_type": "amount", "discount_value": 10_001}, {"unit_price": 4000}],
    ids=["discount", "price"],
)
def test_a_draft_whose_line_was_changed_under_it_cannot_be_prepared(delegate, columns):
    draft = make_draft(user=delegate)
    Line.objects.update(**columns)
    refuse(ConflictError, prepare, draft, user=delegate)


def test_another_person_executes_nothing_though_they_know_all_that_it_takes(colleague, prepared):
    prepared.decide()
    refuse(ApprovalNotFoundError, replace(prepared, user=colleague).execute)


def end(person: User, **flags: object) -> None:
    User.objects.filter(pk=person.pk).update(**flags)


@pytest.mark.parametrize(
    ("take_away", "error"),
    [
        (lambda person: withdraw(person, Permission.FINALIZE), DecisionNotAllowedError),
        (lambda person: withdraw(person, Permission.VIEW_DOCUMENT), DecisionNotAllowedError),
        (lambda person: withdraw(person, Permission.VIEW_ALL_CUSTOMERS), ApprovalNotFoundError),
        (lambda person: end(person, is_active=False), DecisionNotAllowedError),
        (lambda person: end(person, session_revision=7), DecisionNotAllowedError),
    ],
    ids=["finalize", "view", "reach", "active", "sessions"],
)
def test_what_was_withdrawn_while_the_draft_was_waited_for_approves_nothing(
    delegate, prepared, take_away, error
):
    assert delegate.has_perm(Permission.FINALIZE)  # as they have it at the beginning of the request
    take_away(User.objects.get(pk=delegate.pk))

    refuse(error, prepared.decide)


def test_a_decision_is_kept_with_its_time_and_only_a_rejection_with_a_reason(delegate, draft):
    approved, rejected = prepare(draft, user=delegate), prepare(draft, user=delegate)
    approved.decide(Decision.APPROVED, reason="Because.")
    rejected.decide(Decision.REJECTED, reason="Wrong customer.")

    kept = ApprovalRequest.objects.order_by("id")
    assert list(kept.values_list("decision", "decided_at", "rejection_reason")) == [
        ("approved", A_MINUTE_LATER, ""),
        ("rejected", A_MINUTE_LATER, "Wrong customer."),
    ]


APPROVED = {"decision": Decision.APPROVED, "decided_at": A_MINUTE_LATER}
EXECUTED = {"executed_at": A_MINUTE_LATER, "execute_key": "another", "result": "{}"}


@pytest.mark.parametrize(
    ("kept", "now"),
    [
        ({"decision": ""}, A_MINUTE_LATER),
        (APPROVED | EXECUTED, A_MINUTE_LATER),
        (APPROVED, TEN_MINUTES_LATER),
    ],
    ids=["undecided", "executed", "expired"],
)
def test_where_a_lock_fails_the_database_still_refuses(prepared, monkeypatch, kept, now):
    """What the execution holds says that all is well; what is kept says otherwise."""
    held = ApprovalRequest.objects.get()
    held.decision, held.expires_at = Decision.APPROVED, TEN_MINUTES_LATER + timedelta(minutes=1)
    ApprovalRequest.objects.update(**kept)
    monkeypatch.setattr(engine, "lock_approval", lambda *_, **__: (held, prepared.document))
    refuse(IntegrityError, prepared.execute, now=now)


def test_where_a_lock_fails_a_draft_that_moved_on_leaves_its_approval_unexecuted(
    prepared, monkeypatch
):
    prepared.decide()
    held = ApprovalRequest.objects.get(), prepared.document
    Document.objects.update(lock_version=prepared.document.lock_version + 1)
    monkeypatch.setattr(engine, "lock_approval", lambda *_, **__: held)
    refuse(ConflictError, prepared.execute)


def test_an_execution_that_waits_past_the_window_is_expired(prepared):
    """The clock is read again after the last lock, for which it may have waited."""
    prepared.decide()
    moments = iter([A_MINUTE_LATER, TEN_MINUTES_LATER])
    before = take_snapshot()
    with pytest.raises(ApprovalStateError) as refusal:
        prepared.execute(clock=lambda: next(moments))
    assert refusal.value.state == "expired"
    assert take_snapshot() == before
