"""Issuing from the draft to its number: an agent prepares and executes, a person approves."""

import re
from typing import Any

import pytest
from django.core import mail

from agent_access.approvals import engine
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import SYSTEM
from agent_access.models import AuditEvent
from agent_access.tools import registry
from agent_access.verification import find_breaks
from invoicing.models import Document, NumberSeries
from tests.agents import HOST
from tests.approvals import digest_issued
from tests.browsers import Browser
from tests.interface.issuing import decide, execute, prepare, read
from tests.interface.refusals import audit_of, invalid, nothing_changes, seen
from tests.snapshots import take_snapshot
from tests.tool_table import ISSUE_TOOLS
from tests.web.forms import main_of

FINGERPRINT = re.compile(r'name="fingerprint" value="(\w+)"')


def approve(prepared) -> None:
    """Approve as the page does, with its audit event."""
    approval = ApprovalRequest.objects.get(pk=prepared["approval_id"])
    engine.decide(
        approval.delegated_user,
        approval.pk,
        decision=Decision.APPROVED,
        fingerprint=approval.fingerprint,
        reason="",
        origin=SYSTEM,
    )


CHANGED_BY_ISSUING = {
    "agent_access.Receipt",
    "invoices.Document",
    "agent_approvals.ApprovalRequest",
    "invoices.NumberFormat",
    "invoices.NumberSeries",
    "invoices.SearchWord",
}


@pytest.mark.requirement("workflow.read_draft", "workflow.prepare", "workflow.show_review_url")
@pytest.mark.requirement("workflow.wait_for_approval", "workflow.execute", "issue.needs_approval")
def test_the_workflow_leads_from_a_draft_over_the_persons_page_to_the_invoice(
    agent, connection, delegate, draft
):
    version = agent.call("documents.get", id=draft.id).data["lock_version"]
    prepared = prepare(agent, draft.id, lock_version=version).data
    assert read(agent, prepared)["status"] == "pending"

    person, page = Browser(), prepared["review_url"].removeprefix(f"https://{HOST}")
    person.force_login(delegate)
    [fingerprint] = FINGERPRINT.findall(person.get(page).content.decode())
    form = {"decision": "approve", "fingerprint": fingerprint}
    assert person.post(page, form).status_code == 302

    assert read(agent, prepared)["status"] == "approved"
    answer = execute(agent, prepared)
    document = agent.call("documents.get", id=draft.id).data
    assert (answer.status, answer.data["document"]) == (200, document)
    assert (document["status"], document["number"]) == ("issued", "INV-2026-0001")
    assert "INV-2026-0001" in main_of(person.get(page))
    assert [tool for tool, _ in audit_of(connection)] == [
        "documents.get",
        "documents.issue_prepare",
        "approvals.get",
        "approval:approved",
        "approvals.get",
        "documents.issue",
        "documents.get",
    ]


@pytest.mark.requirement("tool.documents_issue_prepare", "approval.prepare", "approval.fields")
@pytest.mark.requirement("tool.approvals_get")
def test_preparing_issues_nothing_and_tells_what_would_be_issued(agent, drafted, customer):
    answer = prepare(agent, drafted["id"])

    told = answer.data
    assert answer.status == 202
    assert told == {
        "approval_id": told["approval_id"],
        "status": "pending",
        "document_id": drafted["id"],
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
        "tax_breakdown": drafted["tax_breakdown"],
        "prepared_at": told["prepared_at"],
        "expires_at": told["expires_at"],
        "decided_at": None,
        "executed_at": None,
        "rejection_reason": None,
        "stale_fields": [],
        "review_url": f"https://{HOST}/approvals/{told['approval_id']}",
        "nonce": told["nonce"],
    }
    assert len(told["nonce"]) >= 43
    assert agent.call("documents.get", id=drafted["id"]).data == drafted
    assert not NumberSeries.objects.exists()
    # The nonce is told once.
    assert [*read(agent, told).items(), ("nonce", told["nonce"])] == [*told.items()]


def test_the_audit_keeps_what_was_approved_and_what_was_issued(agent, connection, prepared):
    approve(prepared)
    execute(agent, prepared)
    execute(agent, prepared)

    approval = ApprovalRequest.objects.get()
    told = AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")
    assert list(told.values_list("action", "detail", "content_digest"))[-3:] == [
        ("approval:approved", str(approval.target), approval.fingerprint),
        ("documents.issue", str(approval.target), digest_issued(approval.target)),
        ("documents.issue", "replayed", None),
    ]
    assert list(find_breaks()) == []


@pytest.mark.requirement("tool.documents_issue", "issue.numbers_and_freezes", "approval.execute")
def test_executing_gives_the_next_number_and_the_issued_document(agent, drafted, prepared):
    decide(prepared)

    answer = execute(agent, prepared)

    document = agent.call("documents.get", id=drafted["id"]).data
    assert answer.status == 200
    assert answer.data == {
        "approval_id": prepared["approval_id"],
        "status": "executed",
        "number": "INV-2026-0001",
        "document": document,
    }
    told = read(agent, prepared)
    assert document == drafted | {
        "status": "issued",
        "number": "INV-2026-0001",
        "lock_version": 2,
        "issued_at": told["executed_at"],
    }
    assert (told["status"], told["stale_fields"]) == ("executed", [])
    assert prepared["prepared_at"] < told["decided_at"] < told["executed_at"]


def test_numbers_follow_each_other(agent, draft_body):
    numbers = []
    for count in range(3):
        draft = agent.call("drafts.create", draft_body, key=f"draft-{count}").data
        prepared = prepare(agent, draft["id"], key=f"prepare-{count}").data
        decide(prepared)
        numbers.append(execute(agent, prepared, key=f"execute-{count}").data["number"])
    assert numbers == ["INV-2026-0001", "INV-2026-0002", "INV-2026-0003"]


@pytest.mark.requirement("issue.no_email_no_payment")
def test_issuing_sends_nothing_and_records_nothing_but_the_issue(agent, draft, prepared):
    decide(prepared)
    before = take_snapshot()

    assert execute(agent, prepared).status == 200

    after = take_snapshot()
    assert {name for name in before if before[name] != after[name]} == CHANGED_BY_ISSUING
    assert len(after["invoices.Document"]) == len(before["invoices.Document"])
    assert mail.outbox == []


@pytest.mark.requirement("issue.proof", "issue.needs_approval")
def test_nothing_but_a_successful_execution_makes_an_invoice(agent, drafted, prepared):
    def read_document() -> Any:
        return agent.call("documents.get", id=drafted["id"]).data

    assert read_document() == drafted
    assert execute(agent, prepared).code == "approval_pending"
    assert read_document() == drafted
    decide(prepared)
    assert read(agent, prepared)["status"] == "approved"
    assert read_document() == drafted
    assert execute(agent, prepared, nonce="guess", key="guess").code == "not_found"
    assert read_document() == drafted
    assert execute(agent, prepared).status == 200
    assert read_document()["number"] == "INV-2026-0001"


@pytest.mark.requirement("issue.one_invoice")
def test_one_approval_is_about_one_invoice(agent, draft, drafted, prepared):
    several = {"lock_version": 1, "ids": [drafted["id"], str(draft.id)]}
    refused = agent.call("documents.issue_prepare", several, id=draft.id, key="several")
    assert seen(refused) == invalid(("ids", "is not a field of this tool"))
    schemas = {tool.name: tool.input_schema for tool in registry if tool.name in ISSUE_TOOLS}
    assert {name: list(schema["properties"]) for name, schema in schemas.items()} == {
        "documents.issue_prepare": ["lock_version"],
        "approvals.get": [],
        "documents.issue": ["nonce"],
    }

    decide(prepared)
    assert execute(agent, prepared).data["document"]["id"] == drafted["id"]
    assert [str(pk) for pk in issued_ids()] == [drafted["id"]]


def issued_ids():
    return Document.objects.exclude(number=None).values_list("id", flat=True)


def test_a_rejection_tells_the_agent_its_reason(agent, prepared):
    decide(prepared, Decision.REJECTED, reason="Wrong customer.")

    told = read(agent, prepared)
    assert (told["status"], told["rejection_reason"]) == ("rejected", "Wrong customer.")
    assert prepared["prepared_at"] < told["decided_at"]
    assert told["executed_at"] is None


def test_reading_an_approval_changes_nothing_in_any_state(agent, drafted, prepared):
    with nothing_changes():
        assert read(agent, prepared)["status"] == "pending"
    decide(prepared)
    with nothing_changes():
        assert read(agent, prepared)["status"] == "approved"
    execute(agent, prepared)
    with nothing_changes():
        assert read(agent, prepared)["status"] == "executed"
