"""A decision and its audit event commit together."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent_access import audit
from agent_access.approvals import engine
from agent_access.approvals.errors import (
    ApprovalNotFoundError,
    ApprovalStateError,
    ConnectionEndedError,
    DecisionNotAllowedError,
)
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import Origin
from agent_access.connections import revoke_connections
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import Transport
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access
from agent_access.verification import find_breaks
from invoicing.access import Permission
from invoicing.decisions import issue_by_hand
from invoicing.errors import ConflictError
from invoicing.models import Company, Document, User
from tests.approvals import digest_issued, fingerprint_draft
from tests.factories import UserFactory, withdraw
from tests.snapshots import take_snapshot

SECOND = timedelta(seconds=1)
ORIGIN = Origin(transport=Transport.WEB, request_id="a-request", client_address="192.0.2.7")
FROM_A_PAGE = {
    "outcome": "ok",
    "transport": "web",
    "request_id": "a-request",
    "client_address": "192.0.2.7",
}
TOLD = (
    *("chain", "actor_id", "connection_id", "target", "detail", "content_digest"),
    *FROM_A_PAGE,
)


@pytest.fixture
def approval(agent, draft_body):
    draft = agent.call("drafts.create", draft_body, key="draft").data
    agent.call("documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="prepare")
    return ApprovalRequest.objects.get()


def decide(user, approval, decision=Decision.APPROVED, **changes: Any):
    asked = {"fingerprint": approval.fingerprint, "reason": "", "origin": ORIGIN}
    return engine.decide(user, approval.pk, decision=decision, **(asked | changes))


@pytest.mark.parametrize("decision", Decision)
def test_a_decision_is_told_on_the_chain_of_the_connection_that_asked(
    delegate, connection, approval, decision
):
    decide(delegate, approval, decision, reason="Wrong customer.")

    [told] = AuditEvent.objects.filter(action=f"approval:{decision}").values(*TOLD)
    assert told == FROM_A_PAGE | {
        "chain": str(connection.id),
        "actor_id": delegate.id,
        "connection_id": connection.id,
        "target": str(approval.id),
        "detail": str(approval.target),
        "content_digest": approval.fingerprint,
    }
    assert list(find_breaks()) == []


def test_a_refused_decision_is_no_decision(delegate, colleague, approval):
    before = AuditEvent.objects.count()

    with pytest.raises(ApprovalNotFoundError):
        decide(colleague, approval)
    with pytest.raises(ApprovalStateError, match="stale"):
        decide(delegate, approval, fingerprint="0" * 64)
    withdraw(delegate, Permission.FINALIZE)
    with pytest.raises(DecisionNotAllowedError):
        decide(delegate, approval)

    assert AuditEvent.objects.count() == before
    assert ApprovalRequest.objects.get().decision == ""


def test_a_decision_that_cannot_be_written_down_is_none(monkeypatch, delegate, approval):
    monkeypatch.setattr("agent_access.audit.record_decisions", lambda _facts: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        decide(delegate, approval)

    assert ApprovalRequest.objects.get().decision == ""


def expire(settings):
    now = timezone.now()
    Connection.objects.update(created_at=now - 2 * SECOND, expires_at=now - SECOND)


def revoke(settings):
    revoke_connections(Connection.objects.all(), reason=RevokedReason.OWNER_REVOKED)


def close_the_chain_first(settings):
    """As a revocation does, which writes the connection after that."""
    audit.close_chains([str(Connection.objects.get().pk)])
    Connection.objects.update(revoked_at=timezone.now(), revoked_reason="owner_revoked")


def turn_off(settings):
    turn_access(on=False)


def transfer(settings):
    Company.objects.update(owner=UserFactory.create())


def move(settings):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "BASE_URL": "https://moved.example"}


@pytest.mark.requirement("revocation.stops_calls", "revocation.other_endings")
@pytest.mark.parametrize("end", [expire, revoke, close_the_chain_first, turn_off, transfer, move])
def test_what_its_connection_cannot_execute_any_more_is_not_approved(
    delegate, approval, settings, end
):
    end(settings)
    before = take_snapshot()

    with pytest.raises(ConnectionEndedError):
        decide(delegate, approval)

    assert take_snapshot() == before
    decide(delegate, approval, Decision.REJECTED)
    assert ApprovalRequest.objects.get().decision == "rejected"


@pytest.mark.parametrize("decision", Decision)
def test_who_is_signed_out_while_the_chain_is_waited_for_decides_nothing(
    monkeypatch, delegate, approval, decision
):
    record_decisions = audit.record_decisions

    def record_and_end_sessions(facts: Any) -> None:
        record_decisions(facts)
        User.objects.filter(pk=delegate.pk).update(session_revision=7)

    monkeypatch.setattr(audit, "record_decisions", record_and_end_sessions)
    before = AuditEvent.objects.count()
    with pytest.raises(DecisionNotAllowedError):
        decide(delegate, approval, decision)
    assert AuditEvent.objects.count() == before
    assert ApprovalRequest.objects.get().decision == ""


def test_who_loses_the_permission_while_the_chain_is_waited_for_approves_nothing(
    monkeypatch, delegate, approval
):
    record_decisions = audit.record_decisions

    def record_and_withdraw(facts: Any) -> None:
        record_decisions(facts)
        withdraw(delegate, Permission.FINALIZE)

    monkeypatch.setattr(audit, "record_decisions", record_and_withdraw)
    before = AuditEvent.objects.count()
    with pytest.raises(DecisionNotAllowedError):
        decide(delegate, approval)
    assert AuditEvent.objects.count() == before
    assert ApprovalRequest.objects.get().decision == ""


def issue(user, draft, fingerprint=None):
    shown = fingerprint or fingerprint_draft(draft)
    return issue_by_hand(user, draft.pk, fingerprint=shown, origin=ORIGIN)


def test_who_issues_by_hand_is_told_on_the_chain_of_the_administration(delegate, draft):
    issue(delegate, draft)

    [told] = AuditEvent.objects.filter(action="document:issued").values(*TOLD)
    assert told == FROM_A_PAGE | {
        "chain": "administration",
        "actor_id": delegate.id,
        "connection_id": None,
        "target": str(draft.id),
        "detail": "INV-2026-0001",
        "content_digest": digest_issued(draft.id),
    }
    assert list(find_breaks()) == []


def test_an_agents_draft_that_is_issued_by_hand_is_told_of_its_connection(
    delegate, connection, approval
):
    issue(delegate, Document.objects.get())

    event = AuditEvent.objects.get(action="document:issued")
    assert (event.chain, event.connection_id) == ("administration", connection.id)


def test_what_is_not_issued_by_hand_is_not_told(delegate, draft):
    with pytest.raises(ConflictError):
        issue(delegate, draft, fingerprint="0" * 64)

    assert not AuditEvent.objects.filter(action="document:issued").exists()


def test_an_issue_by_hand_that_cannot_be_written_down_is_none(monkeypatch, delegate, draft):
    monkeypatch.setattr("agent_access.audit.record_act", lambda *_, **__: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        issue(delegate, draft)

    assert Document.objects.get().number is None


def test_issuing_by_hand_locks_the_chain_of_the_administration_last(delegate, draft):
    """Whoever stops agents needs that lock, and would wait for the draft and the series too."""
    shown = fingerprint_draft(draft)
    with CaptureQueriesContext(database) as queries:
        issue(delegate, draft, fingerprint=shown)
    statements = [query["sql"] for query in queries]
    numbered = next(each for each in statements if 'UPDATE "invoices_numberseries"' in each)
    locked = next(each for each in statements if 'FROM "agent_access_chainhead"' in each)
    assert statements.index(numbered) < statements.index(locked)


def test_who_became_a_guest_decides_nothing_any_more(delegate, approval):
    """That ends the web session as well as the connection."""
    User.objects.filter(pk=delegate.pk).update(is_guest=True)
    before = take_snapshot()
    for decision in (Decision.APPROVED, Decision.REJECTED):
        with pytest.raises(DecisionNotAllowedError):
            decide(delegate, approval, decision)
    assert take_snapshot() == before
