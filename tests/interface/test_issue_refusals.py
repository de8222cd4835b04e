"""When executing is refused: what is answered, in which order, and that nothing is issued."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from agent_access import audit
from agent_access.approvals.models import Decision
from agent_access.models import Receipt
from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.models import Company, Customer, Document, NumberSeries, TaxRate
from invoicing.services import issuing
from invoicing.services.numbering import next_number
from tests.factories import grant, withdraw
from tests.interface.issuing import decide, execute, prepare, read
from tests.interface.refusals import (
    IN_DEMO_MODE,
    KEY_OF_ANOTHER_CALL,
    audit_of,
    invalid,
    missing_permissions,
    nothing_changes,
    refusal,
    seen,
)

PREPARED_AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WINDOW = timedelta(minutes=10)
MOMENT = timedelta(microseconds=1)

APPROVED, REJECTED = Decision.APPROVED, Decision.REJECTED


@pytest.fixture
def clock():
    """A clock that stands still at the moment of preparing."""
    with time_machine.travel(PREPARED_AT, tick=False) as clock:
        yield clock


def change(agent, drafted, draft_body):
    body = draft_body | {"lock_version": 1, "reference": "PO 8"}
    assert agent.call("drafts.update", body, id=drafted["id"], key="change").status == 200


def refuse(agent, prepared, code, *, status, **execution: Any):
    """Execute; it must get the refusal and nothing but the audit may change."""
    with nothing_changes():
        answer = execute(agent, prepared, **execution)
    assert seen(answer) == refusal(code)
    assert read(agent, prepared)["status"] == status
    assert not Document.objects.exclude(number=None).exists()
    assert not NumberSeries.objects.exists()


@pytest.mark.requirement("error.approval_pending", "approval.execute_undecided")
def test_before_the_decision_it_is_pending(agent, connection, prepared):
    refuse(agent, prepared, "approval_pending", status="pending")
    assert ("documents.issue", "approval_pending") in audit_of(connection)


@pytest.mark.requirement("error.approval_rejected", "approval.reject")
def test_a_rejection_is_final(agent, connection, prepared):
    decide(prepared, REJECTED)
    refuse(agent, prepared, "approval_rejected", status="rejected")
    assert ("documents.issue", "approval_rejected") in audit_of(connection)


@pytest.mark.requirement("error.approval_stale", "approval.becomes_stale")
@pytest.mark.parametrize("is_decided", [True, False])
def test_a_changed_draft_makes_it_stale(
    agent, connection, drafted, draft_body, prepared, is_decided
):
    if is_decided:
        decide(prepared)
    change(agent, drafted, draft_body)

    refuse(agent, prepared, "approval_stale", status="stale")

    assert read(agent, prepared)["stale_fields"] == ["lock_version", "reference"]
    assert ("documents.issue", "approval_stale") in audit_of(connection)


@pytest.mark.requirement("error.approval_stale", "approval.becomes_stale")
@pytest.mark.parametrize(
    "change",
    [lambda: Company.objects.update(name="Sold"), lambda: TaxRate.objects.update(is_active=False)],
    ids=["seller", "rate"],
)
def test_what_changes_while_it_is_being_issued_is_stale(agent, prepared, monkeypatch, change):
    def change_first(*of: Any) -> Any:
        change()
        return next_number(*of)

    decide(prepared)
    monkeypatch.setattr(issuing, "next_number", change_first)
    with nothing_changes():
        answer = execute(agent, prepared)
    assert seen(answer) == refusal("approval_stale")


@pytest.mark.parametrize(
    ("model", "path"), [(Customer, "customer.is_active"), (TaxRate, "tax_breakdown.0.is_active")]
)
def test_a_customer_or_rate_that_became_inactive_makes_it_stale(agent, prepared, model, path):
    decide(prepared)
    model.objects.update(is_active=False)

    refuse(agent, prepared, "approval_stale", status="stale")

    assert read(agent, prepared)["stale_fields"] == [path]


@pytest.mark.requirement("error.approval_expired", "approval.expires", "approval.window")
@pytest.mark.requirement("limit.approval_window")
@pytest.mark.parametrize("decision", [APPROVED, None])
def test_at_exactly_ten_minutes_it_has_expired(agent, connection, clock, drafted, decision):
    prepared = prepare(agent, drafted["id"]).data
    assert prepared["expires_at"] == "2026-03-02T09:10:00Z"
    if decision:
        decide(prepared, decision)
    clock.move_to(PREPARED_AT + WINDOW, tick=False)

    refuse(agent, prepared, "approval_expired", status="expired")

    assert ("documents.issue", "approval_expired") in audit_of(connection)


def test_after_the_window_only_a_new_key_asks_anew_and_the_refusal_says_so(agent, clock, drafted):
    first = prepare(agent, drafted["id"])
    clock.shift(WINDOW)

    refused = execute(agent, first.data)

    assert "prepare a new request with a new key" in refused.error["message"]
    assert prepare(agent, drafted["id"]).content == first.content
    assert read(agent, prepare(agent, drafted["id"], key="anew").data)["status"] == "pending"


@pytest.mark.requirement("approval.window_not_restarted")
def test_until_then_it_executes_and_a_decision_restarts_nothing(agent, clock, drafted):
    prepared = prepare(agent, drafted["id"]).data
    clock.move_to(PREPARED_AT + WINDOW - MOMENT, tick=False)
    decide(prepared)
    clock.move_to(PREPARED_AT + WINDOW, tick=False)
    refuse(agent, prepared, "approval_expired", status="expired")
    clock.move_to(PREPARED_AT + WINDOW - MOMENT, tick=False)
    assert execute(agent, prepared).status == 200


# Each is brought about with all that come after it.
PRECEDENCE = {
    "approval_rejected": ("rejected", {"reject", "wait", "change"}),
    "approval_expired": ("expired", {"approve", "wait", "change"}),
    "approval_stale": ("stale", {"approve", "change"}),
}


@pytest.mark.parametrize("code", PRECEDENCE)
def test_the_first_reason_answers(agent, clock, drafted, draft_body, code):
    status, acts = PRECEDENCE[code]
    prepared = prepare(agent, drafted["id"]).data
    if acts & {"approve", "reject"}:
        decide(prepared, REJECTED if "reject" in acts else APPROVED)
    if "change" in acts:
        change(agent, drafted, draft_body)
    if "wait" in acts:
        clock.shift(WINDOW)

    refuse(agent, prepared, code, status=status)


@pytest.mark.requirement("approval.foreign_or_wrong_nonce", "error.foreign_approval")
@pytest.mark.parametrize("decision", [APPROVED, REJECTED, None])
def test_a_wrong_nonce_finds_no_approval_whatever_its_state(agent, prepared, decision):
    if decision:
        decide(prepared, decision)
    right = prepared["nonce"]
    for number, wrong in enumerate(("x", right[:-1], f"{right} ", right.swapcase(), "é", "\x00")):
        with nothing_changes():
            answer = execute(agent, prepared, nonce=wrong, key=f"guess-{number}")
        assert seen(answer) == refusal("not_found"), wrong


def test_a_known_key_with_a_wrong_nonce_is_a_conflict(agent, prepared):
    decide(prepared)
    executed = execute(agent, prepared)
    with nothing_changes():
        assert seen(execute(agent, prepared, nonce="guess")) == KEY_OF_ANOTHER_CALL
        assert seen(execute(agent, prepared, nonce="guess", key="new")) == refusal("not_found")
    assert execute(agent, prepared).content == executed.content


def test_a_nonce_that_is_none_is_named(agent, prepared):
    no_strings: tuple[Any, ...] = (1, None, True, [], {})
    wrong: list[tuple[Any, str]] = [
        *((value, "must be a string") for value in no_strings),
        ("\ud800", "must be Unicode text"),
        ("", "must not be empty"),
        ("n" * 201, "must have at most 200 characters"),
    ]
    with nothing_changes():
        for value, problem in wrong:
            answer = agent.call(
                "documents.issue", {"nonce": value}, id=prepared["approval_id"], key="k"
            )
            assert seen(answer) == invalid(("nonce", problem)), value


@pytest.mark.requirement("approval.foreign_or_wrong_nonce", "error.foreign_approval")
def test_another_connection_of_the_same_person_has_no_part_in_it(connect, delegate, prepared):
    decide(prepared)
    connection, other = connect(delegate)

    with nothing_changes():
        answers = [
            other.call("approvals.get", id=prepared["approval_id"]),
            execute(other, prepared),
            execute(other, prepared, nonce="guess", key="guess"),
        ]

    assert [seen(answer) for answer in answers] == [refusal("not_found")] * 3
    assert audit_of(connection) == [
        ("approvals.get", "not_found"),
        ("documents.issue", "not_found"),
        ("documents.issue", "not_found"),
    ]


def test_the_document_is_no_approval_and_the_approval_no_document(agent, drafted, prepared):
    decide(prepared)
    with nothing_changes():
        answers = [
            agent.call("approvals.get", id=drafted["id"]),
            agent.call(
                "documents.issue", {"nonce": prepared["nonce"]}, id=drafted["id"], key="execute"
            ),
            prepare(agent, prepared["approval_id"], key="another"),
        ]
    assert [seen(answer) for answer in answers] == [refusal("not_found")] * 3


@pytest.mark.requirement("permissions.checked_on_issue", "issue.execute_rechecks_manage")
@pytest.mark.parametrize("permission", ISSUE_PERMISSIONS)
def test_a_permission_lost_after_the_approval_stops_the_execution(
    agent, delegate, prepared, permission
):
    decide(prepared)
    withdraw(delegate, permission)
    with nothing_changes():
        assert seen(execute(agent, prepared)) == missing_permissions(permission)
    grant(delegate, permission)
    assert execute(agent, prepared).status == 200


@pytest.mark.requirement("access.record_scope", "error.hidden_like_missing")
@pytest.mark.parametrize("is_executed", [False, True], ids=["approved", "executed"])
def test_an_approval_of_a_document_out_of_reach_is_none_in_any_state(
    agent, delegate, prepared, is_executed
):
    decide(prepared)
    if is_executed:
        assert execute(agent, prepared).status == 200
    withdraw(delegate, Permission.VIEW_ALL_CUSTOMERS)

    with nothing_changes():
        answers = [
            execute(agent, prepared),
            execute(agent, prepared, key="another"),
            execute(agent, prepared, key="guess", nonce="guess"),
            prepare(agent, prepared["document_id"]),
            agent.call("approvals.get", id=prepared["approval_id"]),
        ]

    assert [seen(answer) for answer in answers] == [refusal("not_found")] * 5
    grant(delegate, Permission.VIEW_ALL_CUSTOMERS)
    assert execute(agent, prepared).status == 200


@pytest.mark.requirement("approval.execute", "revocation.stops_calls")
def test_a_revocation_stops_an_execution_that_is_on_its_way(agent, connection, prepared):
    """The credential was looked at already; the chain's end is what the two meet at."""
    decide(prepared)
    audit.close_chains([str(connection.id)])
    with nothing_changes():
        assert seen(execute(agent, prepared)) == refusal("unauthenticated")


def test_demo_mode_after_the_approval_stops_the_execution(agent, prepared, settings):
    decide(prepared)
    settings.DEMO_MODE = True
    with nothing_changes():
        assert seen(execute(agent, prepared)) == IN_DEMO_MODE
    assert read(agent, prepared)["status"] == "approved"
    settings.DEMO_MODE = False
    assert execute(agent, prepared).status == 200


@pytest.mark.requirement("error.failure_stores_no_receipt")
def test_a_refused_execution_leaves_its_key_free(agent, prepared):
    assert execute(agent, prepared).code == "approval_pending"
    decide(prepared)
    answer = execute(agent, prepared)
    assert (answer.status, "Idempotent-Replayed" in answer.headers) == (200, False)
    assert Receipt.objects.filter(key="execute").count() == 1
