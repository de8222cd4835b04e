"""What an executed approval answers afterwards, and to whom."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from agent_access.models import Receipt
from invoicing.access import Permission
from invoicing.models import Customer, Document, NumberSeries, TaxRate
from tests.factories import CustomerFactory, withdraw
from tests.interface.issuing import decide, execute, prepare, read
from tests.interface.refusals import (
    NO_DRAFT_INVOICE,
    missing_permissions,
    nothing_changes,
    refusal,
    seen,
)

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def executed(agent, prepared):
    """What executing answered."""
    decide(prepared)
    return execute(agent, prepared)


@pytest.mark.requirement("approval.identical_retry", "idempotency.executed_result")
def test_an_identical_retry_gets_the_very_same_bytes(agent, prepared, executed):
    with nothing_changes():
        again = execute(agent, prepared)
    assert (again.status, again.content) == (200, executed.content)
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.requirement("approval.other_key", "error.approval_used")
def test_another_key_is_told_that_it_was_used(agent, prepared, executed):
    with nothing_changes():
        answer = execute(agent, prepared, key="other")
    assert seen(answer) == refusal("approval_used")
    assert read(agent, prepared)["status"] == "executed"


@pytest.fixture
def forgotten(executed):
    """The receipts are gone; what the approval keeps is left."""
    Receipt.objects.all().delete()
    return executed


@pytest.mark.requirement("idempotency.executed_result")
def test_the_approval_keeps_the_result_without_the_receipt(agent, prepared, forgotten):
    with nothing_changes(but="agent_access.Receipt"):
        again = execute(agent, prepared)
    assert (again.status, again.content) == (200, forgotten.content)
    assert NumberSeries.objects.get().last_value == 1


@pytest.mark.requirement("idempotency.executed_result", "approval.foreign_or_wrong_nonce")
def test_the_kept_result_is_for_the_same_connection_nonce_and_key_only(
    agent, connect, delegate, prepared, forgotten
):
    _, other = connect(delegate)
    with nothing_changes():
        assert seen(execute(agent, prepared, key="other")) == refusal("approval_used")
        assert seen(execute(agent, prepared, nonce="guess")) == refusal("not_found")
        assert seen(execute(other, prepared)) == refusal("not_found")


@pytest.mark.requirement("permissions.checked_on_issue")
@pytest.mark.parametrize(
    ("permission", "expected"),
    [
        (Permission.VIEW_DOCUMENT, missing_permissions(Permission.VIEW_DOCUMENT)),
        (Permission.FINALIZE, missing_permissions(Permission.FINALIZE)),
        (Permission.MANAGE, missing_permissions(Permission.MANAGE)),
        (Permission.VIEW_ALL_CUSTOMERS, refusal("not_found")),
    ],
)
def test_the_kept_result_restores_no_lost_access(
    agent, delegate, prepared, executed, permission, expected
):
    withdraw(delegate, permission)
    with nothing_changes():
        assert seen(execute(agent, prepared)) == expected
    Receipt.objects.all().delete()
    with nothing_changes():
        assert seen(execute(agent, prepared)) == expected


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_the_result_stays_as_it_was_whatever_happens_later(agent, drafted, is_forgotten):
    with time_machine.travel(NOW, tick=False) as clock:
        prepared = prepare(agent, drafted["id"]).data
        decide(prepared)
        executed = execute(agent, prepared)
        if is_forgotten:
            Receipt.objects.all().delete()
        clock.shift(timedelta(days=3))
        Customer.objects.update(name="Renamed", is_active=False)
        TaxRate.objects.update(name="Renamed", is_active=False)

        assert execute(agent, prepared).content == executed.content
        assert seen(execute(agent, prepared, key="other")) == refusal("approval_used")
        assert read(agent, prepared)["status"] == "executed"


@pytest.mark.requirement("approval.becomes_stale")
def test_issuing_one_of_several_approvals_makes_the_others_stale(agent, draft):
    first, second, third = (prepare(agent, draft.id, key=f"p{number}").data for number in range(3))
    decide(first)
    decide(second)
    assert execute(agent, second).status == 200

    for other in (first, third):
        with nothing_changes():
            answer = execute(agent, other, key=other["approval_id"])
        assert seen(answer) == refusal("approval_stale")
        told = read(agent, other)
        assert (told["status"], told["stale_fields"]) == ("stale", ["status", "lock_version"])
    assert Document.objects.exclude(number=None).count() == 1


def test_two_connections_may_prepare_the_same_draft(agent, connect, delegate, draft):
    _, other = connect(delegate)
    first, second = prepare(agent, draft.id).data, prepare(other, draft.id).data
    decide(second)
    assert execute(other, second).status == 200
    assert read(agent, first)["status"] == "stale"


@pytest.mark.requirement("workflow.execution_conflict")
def test_after_a_conflict_the_approval_and_the_document_tell_what_happened(
    agent, drafted, draft_body, prepared
):
    decide(prepared)
    change = draft_body | {"lock_version": 1, "customer_id": str(CustomerFactory.create().id)}
    agent.call("drafts.update", change, id=drafted["id"], key="change")
    assert execute(agent, prepared).code == "approval_stale"

    document = agent.call("documents.get", id=drafted["id"]).data
    assert (document["status"], document["number"]) == ("draft", None)
    assert read(agent, prepared)["stale_fields"][0] == "lock_version"

    again = prepare(agent, drafted["id"], lock_version=document["lock_version"], key="again").data
    decide(again)
    assert execute(agent, again, key="execute-again").data["number"] == "INV-2026-0001"
    # Again no guess: the first approval is read, and the document is what proves the issue.
    assert execute(agent, again, key="lost").code == "approval_used"
    assert read(agent, again)["status"] == "executed"
    assert agent.call("documents.get", id=drafted["id"]).data["number"] == "INV-2026-0001"


def test_an_issued_invoice_is_neither_changed_nor_prepared_again(
    agent, drafted, draft_body, executed
):
    for version in (1, 2):
        with nothing_changes():
            body = draft_body | {"lock_version": version}
            update = agent.call("drafts.update", body, id=drafted["id"], key=f"u{version}")
            again = prepare(agent, drafted["id"], lock_version=version, key=f"p{version}")
        assert seen(update) == seen(again) == NO_DRAFT_INVOICE
