"""Who waits for a lock is judged by the time at which they get it."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction
from django.utils import timezone

from agent_access.approvals import engine
from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.models import Decision
from invoicing import decisions
from invoicing.agent_tools import issue_approvals
from invoicing.errors import ConflictError
from invoicing.models import Document
from invoicing.services import issuing
from invoicing.services.drafts import update_draft
from tests.administration import ORIGIN
from tests.approvals import (
    A_MINUTE_LATER,
    PREPARED_AT,
    TEN_MINUTES_LATER,
    fingerprint_draft,
    prepare,
)
from tests.clocks import Watch
from tests.factories import (
    CustomerFactory,
    UserFactory,
    draft_input,
    make_draft,
)
from tests.snapshots import take_snapshot
from tests.threads import Encounter, in_threads, run_together

IN_TIME = TEN_MINUTES_LATER - timedelta(microseconds=1)


@pytest.fixture
def watch():
    return Watch(A_MINUTE_LATER)


@pytest.fixture
def prepared(delegate, draft):
    return prepare(draft, user=delegate)


@pytest.fixture
def wait(monkeypatch, watch):
    """Make taking one lock of a module last until a moment."""

    def wait_for(module, lock, *, until) -> None:
        slow = watch.move_while(getattr(module, lock), to=until)
        monkeypatch.setattr(module, lock, slow)

    return wait_for


def test_the_window_begins_when_the_draft_is_locked(delegate, draft, watch, wait):
    wait(issue_approvals, "lock_draft", until=PREPARED_AT + timedelta(seconds=5))
    approval = prepare(draft, user=delegate, clock=watch).approval

    assert approval.prepared_at == PREPARED_AT + timedelta(seconds=5)
    assert approval.expires_at == TEN_MINUTES_LATER + timedelta(seconds=5)


@pytest.mark.requirement("approval.window")
@pytest.mark.parametrize("decision", Decision)
def test_a_decision_that_waited_too_long_is_none(prepared, watch, wait, decision):
    wait(engine, "lock_approval", until=TEN_MINUTES_LATER)
    before = take_snapshot()
    with pytest.raises(ApprovalStateError, match="expired"):
        prepared.decide(decision, clock=watch)

    assert take_snapshot() == before


def test_a_decision_that_waited_is_made_when_it_got_through(prepared, watch, wait):
    wait(engine, "lock_approval", until=IN_TIME)

    assert prepared.decide(clock=watch).approval.decided_at == IN_TIME


@pytest.mark.requirement("approval.window")
@pytest.mark.parametrize(
    ("module", "lock"),
    [(engine, "lock_approval"), (issuing, "next_number")],
)
def test_an_execution_that_waited_too_long_issues_nothing(prepared, watch, wait, module, lock):
    prepared.decide()
    wait(module, lock, until=TEN_MINUTES_LATER)
    before = take_snapshot()
    with pytest.raises(ApprovalStateError, match="expired"):
        prepared.execute(clock=watch)

    assert take_snapshot() == before


def test_an_execution_that_waited_happens_when_it_got_its_number(prepared, watch, wait):
    prepared.decide()
    wait(issuing, "next_number", until=IN_TIME)
    executed = prepared.execute(clock=watch)

    assert executed.executed_at == Document.objects.get().issued_at == IN_TIME


def test_issuing_by_hand_happens_when_it_got_its_number(delegate, draft, watch, wait):
    wait(decisions, "lock_draft", until=PREPARED_AT)
    wait(issuing, "next_number", until=IN_TIME)
    shown = fingerprint_draft(draft)
    decisions.issue_by_hand(delegate, draft.pk, fingerprint=shown, origin=ORIGIN, clock=watch)

    assert Document.objects.get().issued_at == IN_TIME


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("error.conflict")
def test_a_draft_that_got_another_customer_of_theirs_while_they_waited_is_not_hidden():
    manager, encounter = UserFactory.create(), Encounter()
    before, after = (CustomerFactory.create(account_managers=[manager]) for _ in range(2))
    draft = make_draft(user=manager, customer=before)
    change = partial(update_draft, manager, draft.pk, lock_version=1)

    def move() -> None:
        with transaction.atomic():
            change(draft_input(after))
            encounter.wait_here()

    def change_too() -> None:
        with pytest.raises(ConflictError):
            encounter.come(lambda: change(draft_input(before)))

    run_together([move, change_too])
    assert Document.objects.get().customer == after


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.requirement("approval.becomes_stale")
def test_an_approved_draft_that_got_another_customer_while_it_was_waited_for_is_stale(
    delegate, draft, prepared
):
    prepared.decide()
    encounter, after = Encounter(), CustomerFactory.create()

    def move() -> None:
        with transaction.atomic():
            update_draft(delegate, draft.pk, draft_input(after), lock_version=1)
            encounter.wait_here()

    def execute() -> None:
        with pytest.raises(ApprovalStateError, match="stale"):
            encounter.come(prepared.execute)

    run_together([move, execute])
    assert Document.objects.get().customer == after


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_in_a_series_the_times_follow_the_numbers(delegate, customer):
    drafts = [make_draft(user=delegate, customer=customer) for _ in range(40)]
    in_threads(lambda draft: issuing.issue_document(draft, clock=timezone.now), drafts)

    by_number = Document.objects.order_by("series_value").values_list("number", flat=True)
    by_time = Document.objects.order_by("issued_at").values_list("number", flat=True)
    assert list(by_time) == list(by_number)
