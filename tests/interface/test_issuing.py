from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from invoicing.models import Decision, Document, IssueApproval
from invoicing.services.approvals import decide_approval
from tests.snapshots import take_snapshot

PREPARED_AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def draft(agent, draft_body):
    return agent.call("drafts.create", draft_body, key="draft").data


@pytest.fixture
def prepared(agent, draft):
    answer = agent.call("documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="prep")
    assert answer.status == 202
    return answer.data


def decide(user, prepared, decision=Decision.APPROVED, reason=""):
    approval = IssueApproval.objects.get(pk=prepared["approval_id"])
    decide_approval(
        user,
        approval.pk,
        decision=decision,
        fingerprint=approval.fingerprint,
        reason=reason,
        now=timezone.now(),
    )


def execute(agent, prepared, *, key="execute", nonce=None):
    nonce = prepared["nonce"] if nonce is None else nonce
    return agent.call("documents.issue", {"nonce": nonce}, id=prepared["approval_id"], key=key)


def test_preparing_issues_nothing_and_gives_a_review_url(agent, draft, prepared, customer):
    assert prepared == {
        "approval_id": prepared["approval_id"],
        "status": "pending",
        "document_id": draft["id"],
        "lock_version": 1,
        "customer": {"id": str(customer.id), "name": "Acme Ltd"},
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "currency_code": "EUR",
        "minor_unit": 2,
        "net_total": "1417",
        "discount_total": "158",
        "tax_total": "269",
        "grand_total": "1686",
        "tax_breakdown": draft["tax_breakdown"],
        "prepared_at": prepared["prepared_at"],
        "expires_at": prepared["expires_at"],
        "decided_at": None,
        "executed_at": None,
        "rejection_reason": None,
        "stale_fields": [],
        "review_url": f"https://invoices.example/approvals/{prepared['approval_id']}",
        "nonce": prepared["nonce"],
    }
    assert agent.call("documents.get", id=draft["id"]).data == draft


def test_an_approved_draft_is_issued_once_with_the_next_number(agent, delegate, draft, prepared):
    decide(delegate, prepared)

    answer = execute(agent, prepared)

    document = agent.call("documents.get", id=draft["id"]).data
    assert answer.status == 200
    assert answer.data == {
        "approval_id": prepared["approval_id"],
        "status": "executed",
        "number": "INV-2026-0001",
        "document": document,
    }
    assert (document["status"], document["lock_version"]) == ("issued", 2)
    assert execute(agent, prepared).content == answer.content
    assert execute(agent, prepared, key="other").code == "approval_used"


def test_executing_before_the_decision_is_pending(agent, prepared):
    before = take_snapshot()

    answer = execute(agent, prepared)

    assert (answer.status, answer.code) == (409, "approval_pending")
    assert take_snapshot() == before


def test_a_rejection_is_final_and_carries_its_reason(agent, delegate, prepared):
    decide(delegate, prepared, Decision.REJECTED, "Wrong customer.")

    answer = execute(agent, prepared)

    read = agent.call("approvals.get", id=prepared["approval_id"]).data
    assert (answer.status, answer.code) == (409, "approval_rejected")
    assert (read["status"], read["rejection_reason"]) == ("rejected", "Wrong customer.")


@pytest.mark.parametrize(("seconds", "code"), [(599, None), (600, "approval_expired")])
def test_the_window_is_ten_minutes_from_preparation(agent, delegate, draft, seconds, code):
    with time_machine.travel(PREPARED_AT, tick=False) as clock:
        prepared = agent.call(
            "documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="prep"
        )
        clock.shift(timedelta(seconds=300))
        decide(delegate, prepared.data)
        clock.shift(timedelta(seconds=seconds - 300))
        answer = execute(agent, prepared.data)

    assert (answer.status, None if answer.status == 200 else answer.code) == (
        (200, None) if code is None else (410, code)
    )


def test_a_changed_draft_makes_the_approval_stale_and_names_the_change(
    agent, delegate, draft_body, draft, prepared
):
    decide(delegate, prepared)
    changed = draft_body | {"lock_version": 1, "reference": "PO 8"}
    agent.call("drafts.update", changed, id=draft["id"], key="change")

    answer = execute(agent, prepared)

    read = agent.call("approvals.get", id=prepared["approval_id"]).data
    assert (answer.status, answer.code) == (409, "approval_stale")
    assert (read["status"], read["stale_fields"]) == ("stale", ["lock_version", "reference"])
    assert Document.objects.filter(number__isnull=False).count() == 0


def test_a_wrong_nonce_is_not_found(agent, delegate, prepared):
    decide(delegate, prepared)

    answer = execute(agent, prepared, nonce="guess")

    assert (answer.status, answer.code) == (404, "not_found")


def test_another_connection_cannot_see_the_approval(connect, delegate, prepared):
    _, other = connect(delegate)

    read = other.call("approvals.get", id=prepared["approval_id"])

    assert (read.status, read.code) == (404, "not_found")
    assert execute(other, prepared).content == read.content


def test_the_nonce_is_nowhere_in_the_database_in_plain_form(prepared):
    assert prepared["nonce"] not in str(take_snapshot())


def test_a_repeated_preparation_gives_the_same_nonce(agent, draft, prepared):
    again = agent.call("documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="prep")

    assert again.data == prepared
