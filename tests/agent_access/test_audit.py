"""What the audit says of every call, and that nothing secret is in it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from agent_access import audit
from agent_access.audit import SYSTEM, Actor, Fact, Origin
from agent_access.connections import revoke_connection
from agent_access.errors import UnauthenticatedError
from agent_access.models import AuditEvent, ChainHead, Connection
from agent_access.models.audit import ADMINISTRATION, Transport
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access
from agent_access.verification import find_breaks

NOW = datetime(2026, 3, 2, 9, 30, 41, 123456, tzinfo=UTC)


def events_of(connection):
    return AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")


def test_a_call_is_one_event_with_all_its_facts(agent, connection, draft_body, time_machine):
    time_machine.move_to(NOW, tick=False)
    answer = agent.request(
        "GET", "/api/v1/tools", REMOTE_ADDR="2001:DB8::7", headers={"User-Agent": "x"}
    )
    assert events_of(connection).values().get() == {
        "id": events_of(connection).get().id,
        "chain": str(connection.id),
        "sequence": 1,
        "occurred_at": NOW,
        "actor_id": connection.user_id,
        "connection_id": connection.id,
        "action": "tools.list",
        "target": "",
        "outcome": "ok",
        "detail": "",
        "transport": "http",
        "request_id": answer.headers["X-Request-Id"],
        "client_address": "2001:db8::7",
        "digest": ChainHead.objects.get(chain=str(connection.id)).digest,
        "content_digest": None,
    }
    assert events_of(connection).get().id.version == 7


def test_reads_writes_replays_and_refusals_are_one_event_each(agent, connection, draft_body):
    draft = agent.call("drafts.create", draft_body, key="one").data["id"]
    agent.call("drafts.create", draft_body, key="one")
    agent.call("drafts.create", draft_body | {"notes": "x"}, key="one")
    agent.call("documents.get", id=draft)
    agent.call("documents.get", id="00000000-0000-7000-8000-000000000000")
    agent.call("documents.get", id="no-id")
    agent.call("documents.list", {"limit": 0})
    agent.call("documents.preview", draft_body)
    agent.request("POST", "/api/v1/drafts", body=b"{", headers={"Idempotency-Key": "two"})
    agent.call("drafts.update", draft_body | {"lock_version": 9}, id=draft, key="three")

    rows = events_of(connection).values_list("action", "target", "outcome", "detail")
    assert list(rows) == [
        ("drafts.create", draft, "ok", ""),
        ("drafts.create", draft, "ok", "replayed"),
        ("drafts.create", "", "conflict", ""),
        ("documents.get", draft, "ok", ""),
        ("documents.get", "00000000-0000-7000-8000-000000000000", "not_found", ""),
        ("documents.get", "", "not_found", ""),
        ("documents.list", "", "validation_failed", ""),
        ("documents.preview", "", "ok", ""),
        ("drafts.create", "", "validation_failed", ""),
        ("drafts.update", draft, "conflict", ""),
    ]
    assert list(find_breaks()) == []


def test_what_a_person_decides_is_no_use_of_the_connection(agent, connection, time_machine):
    time_machine.move_to(NOW, tick=False)
    agent.call("tools.list")
    time_machine.shift(timedelta(hours=1))
    origin = Origin(transport=Transport.WEB)
    with transaction.atomic():
        fact = Fact(action="approval:rejected", origin=origin, connection_id=connection.id)
        audit.record_decisions([fact])
    head = ChainHead.objects.get(chain=str(connection.id))
    assert (head.sequence, head.last_used_at) == (2, NOW.replace(second=0, microsecond=0))


def test_switches_and_connections_are_the_chain_of_administration(agent, connection, owner):
    by = Actor(SYSTEM, owner.id)
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED, by=by)
    turn_access(on=False, by=by)
    rows = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("sequence")
    assert list(rows.values_list("action", "target", "detail", "actor_id", "transport")) == [
        ("access:turned_on", "", "", None, "command"),
        ("connection:created", str(connection.id), "", owner.id, "command"),
        ("connection:revoked", str(connection.id), "owner_revoked", owner.id, "command"),
        ("access:turned_off", "", "", owner.id, "command"),
    ]


def test_an_event_of_a_revoked_connection_is_a_refusal_only(connection):
    fact = Fact(action="x.y", origin=Origin(transport=Transport.HTTP), connection_id=connection.id)
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    with pytest.raises(UnauthenticatedError), transaction.atomic():
        audit.record_call(fact)
    with transaction.atomic():
        audit.record_refusal(replace(fact, outcome="conflict"))
    assert [event.outcome for event in events_of(connection)] == ["conflict"]


def record_act(fact: Fact) -> None:
    audit.record_acts([fact])


def record_decision(fact: Fact) -> None:
    audit.record_decisions([fact])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "record", [audit.record_call, audit.record_refusal, record_decision, record_act]
)
def test_an_event_belongs_to_a_transaction(connection, record):
    before = AuditEvent.objects.count()
    fact = Fact(action="x.y", origin=Origin(transport=Transport.HTTP), connection_id=connection.id)
    with pytest.raises(RuntimeError, match="belongs to a transaction"):
        record(fact)
    assert AuditEvent.objects.count() == before


def test_no_text_of_a_document_and_no_key_reach_the_audit(agent, connection, draft_body):
    marked = draft_body | {"notes": "MARKER", "reference": "MARKER"}
    marked["line_items"][0]["description"] = "MARKER"
    agent.call("drafts.create", marked, key="MARKER")
    agent.call("drafts.create", marked | {"MARKER": 1}, key="MARKER")
    agent.call("documents.list", {"search": "MARKER"})
    agent.call("documents.get", id="MARKER")
    agent.request("GET", "/api/v1/tools", headers={"User-Agent": "MARKER"})
    rows = str(list(AuditEvent.objects.values()))
    assert "MARKER" not in rows
    assert agent.credential not in rows
    assert str(Connection.objects.get().credential_digest) not in rows
