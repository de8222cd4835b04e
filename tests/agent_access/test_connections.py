"""How connections begin, what they lend, and how they end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from agent_access import audit
from agent_access.audit import SYSTEM, Actor
from agent_access.connections import (
    ConnectionNotAllowedError,
    ConnectionRequest,
    create_connection,
    revoke_connection,
)
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import ADMINISTRATION
from agent_access.models.connections import NAME_LENGTH, ConnectionKind, RevokedReason
from agent_access.switches import turn_access, turn_sign_in
from agent_access.tools import registry
from tests.factories import UserFactory
from tests.snapshots import take_snapshot

CHOOSE_SCOPES = f"Choose one or more of these scopes: {', '.join(registry.scopes)}."
UNFIT_PERSON = "A connection acts only for an active person who is not a guest."
UNFIT_DAYS = "A connection lasts 1 to 30 days."
INVALID_NAME = (
    "A connection needs a name of 1 to 100 characters, without line breaks or invisible characters."
)


def ask(user: Any, **changes: Any) -> ConnectionRequest:
    wanted: dict[str, Any] = {"scopes": ["customers:read"], "days": 30, "name": "Agent"}
    return ConnectionRequest(user=user, **{**wanted, **changes})


def assert_unfit(request, sentence) -> None:
    before, events = take_snapshot(), AuditEvent.objects.count()
    with pytest.raises(ConnectionNotAllowedError) as refusal:
        create_connection(request)
    assert str(refusal.value) == sentence
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


@pytest.mark.requirement("connection.credential", "connection.grants", "access.delegate")
def test_a_connection_remembers_what_it_was_approved_under(access_on, delegate, owner):
    scopes = ["invoices:read", "customers:read"]
    connection, credential = create_connection(ask(delegate, scopes=scopes, name="Ledger bot"))
    stored = Connection.objects.get()
    assert stored == connection
    assert (stored.kind, stored.name) == ("pasted", "Ledger bot")
    assert (stored.user, stored.grants, stored.owner_id) == (delegate, scopes, owner.id)
    assert stored.session_revision == delegate.session_revision
    assert stored.base_url == "https://invoices.example"
    assert stored.expires_at - stored.created_at == timedelta(days=30)
    assert (stored.revoked_at, stored.revoked_reason) == (None, "")
    assert len(credential) == 47
    event = AuditEvent.objects.get(action="connection:created")
    assert (event.chain, event.actor_id, event.outcome) == (ADMINISTRATION, owner.id, "ok")
    assert (event.connection_id, event.target) == (connection.id, str(connection.id))


def test_without_an_owner_nobody_approves_a_connection(db):
    turn_access(on=True)
    person = UserFactory.create()
    assert_unfit(ask(person), "There is no owner yet who could approve a connection.")


@pytest.mark.requirement("access.delegate")
@pytest.mark.parametrize("flags", [{"is_guest": True}, {"is_active": False}])
def test_guests_and_inactive_people_are_no_delegates(access_on, delegate, flags):
    """Also where the owner chose them before they were sent away."""
    type(delegate).objects.filter(pk=delegate.pk).update(**flags)
    assert_unfit(ask(delegate), UNFIT_PERSON)


@pytest.mark.requirement("versioning.scope_groups", "authentication.scopes")
@pytest.mark.parametrize(
    "scopes",
    [[], ["customers:write"], ["customers:read", "documents.get"], ["CUSTOMERS:READ"], [""]],
)
def test_a_new_connection_takes_scope_groups_only(access_on, delegate, scopes):
    assert_unfit(ask(delegate, scopes=scopes), CHOOSE_SCOPES)


def test_a_scope_named_twice_is_granted_once(access_on, delegate):
    connection, _ = create_connection(ask(delegate, scopes=["people:read", "people:read"]))
    assert connection.grants == ["people:read"]


@pytest.mark.requirement("connection.expiry", "limit.connection_expiry")
@pytest.mark.parametrize("days", [-1, 0, 31, 10**9])
def test_a_connection_lasts_at_least_1_and_at_most_30_days(access_on, delegate, days):
    assert_unfit(ask(delegate, days=days), UNFIT_DAYS)
    shortest, longest = (create_connection(ask(delegate, days=fit))[0] for fit in (1, 30))
    assert shortest.expires_at - shortest.created_at == timedelta(days=1)
    assert longest.expires_at - longest.created_at == timedelta(days=30)


UNFIT_NAMES = {
    "empty": "",
    "blank": "   ",
    "of two lines": "a\nb",
    "with a NUL": "a\x00",
    "with a lone surrogate": "a\ud800",
    "with a direction mark": "a\u202eb",
    "of a letter that nobody sees": "\u3164",
    "too long": "a" * (NAME_LENGTH + 1),
}


@pytest.mark.parametrize("name", UNFIT_NAMES.values(), ids=UNFIT_NAMES)
def test_a_connection_needs_a_name_that_people_can_read(access_on, delegate, name):
    assert_unfit(ask(delegate, name=name), INVALID_NAME)
    assert create_connection(ask(delegate, name="日" * NAME_LENGTH))[0].name == "日" * NAME_LENGTH


@pytest.mark.requirement("revocation.stops_calls")
def test_revoking_stops_the_next_call_and_is_written_down_once(agent, connection, owner):
    assert agent.call("tools.list").status == 200

    by = Actor(SYSTEM, owner.id)
    first = revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED, by=by)
    second = revoke_connection(connection.id, reason=RevokedReason.ACCESS_OFF)

    assert (first, second) == (True, False)
    assert agent.call("tools.list").status == 401
    connection.refresh_from_db()
    assert connection.revoked_reason == "owner_revoked"
    event = AuditEvent.objects.get(action="connection:revoked")
    assert (event.chain, event.actor_id) == (ADMINISTRATION, owner.id)
    assert (event.target, event.detail) == (str(connection.id), "owner_revoked")


def test_a_connection_is_revoked_when_no_call_is_in_flight_any_more(
    connection, monkeypatch, time_machine
):
    close_chains, ended = audit.close_chains, timezone.now() + timedelta(seconds=3)

    def wait_for_calls(chains: Any) -> None:
        close_chains(chains)
        time_machine.move_to(ended, tick=False)

    monkeypatch.setattr(audit, "close_chains", wait_for_calls)
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    connection.refresh_from_db()
    assert connection.revoked_at == ended


@pytest.mark.parametrize("turn", [turn_access, turn_sign_in])
def test_an_expired_connection_is_revoked_but_not_counted_among_those_that_ended(
    connect, delegate, turn
):
    _live, expired = [connect(delegate)[0] for _ in range(2)]
    Connection.objects.update(kind=ConnectionKind.BROWSER, client_id="x", credential_digest=None)
    past = timezone.now() - timedelta(days=1)
    Connection.objects.filter(pk=expired.pk).update(created_at=past, expires_at=timezone.now())
    assert turn(on=False) == 1
    assert not Connection.objects.filter(revoked_at=None).exists()


@pytest.mark.parametrize(
    "change",
    [
        {"credential_digest": None},
        {"client_id": "client"},
        {"credential_digest": None, "client_id": "client"},
        {"kind": "browser"},
        {"kind": "browser", "client_id": "client"},
        {"kind": "browser", "credential_digest": None},
        {"kind": "pigeon"},
        {"revoked_at": datetime(2026, 3, 2, tzinfo=UTC)},
        {"revoked_reason": "owner_revoked"},
        {"expires_at": datetime(2025, 3, 2, tzinfo=UTC)},
    ],
    ids=str,
)
def test_the_database_refuses_a_connection_without_one_way_in_or_with_half_an_ending(
    connection, change
):
    with pytest.raises(DatabaseError), transaction.atomic():
        Connection.objects.filter(pk=connection.pk).update(**change)


def test_a_credential_opens_one_connection(connection, connect, colleague):
    other, _ = connect(colleague)
    other.credential_digest = connection.credential_digest
    with pytest.raises(DatabaseError), transaction.atomic():
        other.save()
