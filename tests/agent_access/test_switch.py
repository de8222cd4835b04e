"""The main switch: off keeps everybody out for good, on lets new connections in."""

from functools import partial
from unittest.mock import Mock

import pytest
from django.db import IntegrityError, transaction

from agent_access import audit, connections
from agent_access.audit import Fact, Origin
from agent_access.errors import UnauthenticatedError
from agent_access.models import AccessSettings, AuditEvent, Connection
from agent_access.models.audit import Transport
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access, turn_sign_in
from agent_access.verification import find_breaks
from tests.agents import HttpAgent
from tests.snapshots import take_snapshot
from tests.threads import run_together


@pytest.mark.requirement("access.starts_off")
def test_access_starts_off_and_no_connection_can_be_made(delegate):
    before = take_snapshot()
    request = connections.ConnectionRequest(
        user=delegate, scopes=["people:read"], days=1, name="Agent"
    )
    with pytest.raises(
        connections.ConnectionNotAllowedError, match="Agent access is off; the owner must turn"
    ):
        connections.create_connection(request)
    assert take_snapshot() == before


@pytest.mark.requirement("access.starts_off", "error.not_found")
def test_while_access_is_off_there_is_nothing_to_find(company):
    for path in ("/api/v1/tools", "/api/v1/documents", "/api/v1", "/api/v1/nowhere"):
        answer = HttpAgent(None).request("GET", path)
        assert (answer.status, answer.code) == (404, "not_found")
        assert "WWW-Authenticate" not in answer.headers


@pytest.mark.django_db(transaction=True)
def test_many_who_turn_access_on_for_the_first_time_at_once_make_one_row_and_one_chain():
    assert run_together([partial(turn_access, on=True)] * 5) == [0] * 5
    assert AccessSettings.objects.get().access_on
    assert AuditEvent.objects.get().action == "access:turned_on"
    assert list(find_breaks()) == []


@pytest.mark.requirement("revocation.access_off")
def test_turning_access_off_ends_every_connection_and_on_again_revives_none(connect, delegate):
    agents = [connect(delegate)[1] for _ in range(3)]

    assert turn_access(on=False) == 3
    assert [agent.call("tools.list").status for agent in agents] == [404, 404, 404]
    turn_access(on=True)
    assert [agent.call("tools.list").status for agent in agents] == [401, 401, 401]
    assert set(Connection.objects.values_list("revoked_reason", flat=True)) == {"access_off"}
    assert connect(delegate)[1].call("tools.list").status == 200


def test_no_call_that_is_on_its_way_outlives_a_stop_of_many(connect, delegate, monkeypatch):
    """Their credentials were looked at already; at the chains of all of them it is too late."""
    monkeypatch.setattr(connections, "BATCH", 2)
    made = [connect(delegate)[0] for _ in range(5)]
    assert turn_access(on=False) == 5
    for connection in made:
        call = Fact(
            action="drafts.create",
            origin=Origin(transport=Transport.HTTP),
            actor_id=delegate.id,
            connection_id=connection.id,
        )
        with pytest.raises(UnauthenticatedError), transaction.atomic():
            audit.record_call(call)
    assert not AuditEvent.objects.filter(action="drafts.create").exists()
    assert list(find_breaks()) == []


def test_a_switch_that_changes_nothing_ends_nothing_and_is_not_written_down(agent, sign_in_on):
    before = AuditEvent.objects.count()
    assert (turn_access(on=True), turn_sign_in(on=True)) == (0, 0)
    assert AuditEvent.objects.count() == before
    assert agent.call("tools.list").status == 200


def test_an_ended_connection_keeps_its_first_reason_when_access_goes_off(connect, delegate):
    first, _ = connect(delegate)
    connect(delegate)
    connections.revoke_connection(first.id, reason=RevokedReason.OWNER_REVOKED)
    assert turn_access(on=False) == 1
    reasons = Connection.objects.order_by("id").values_list("revoked_reason", flat=True)
    assert list(reasons) == ["owner_revoked", "access_off"]


def test_a_switch_that_fails_in_the_middle_ends_nothing(connect, delegate, monkeypatch):
    connect(delegate)
    connect(delegate)
    before, events = take_snapshot(), AuditEvent.objects.count()
    monkeypatch.setattr(connections, "BATCH", 1)
    monkeypatch.setattr(audit, "close_chains", Mock(side_effect=[None, OSError]))

    with pytest.raises(OSError):  # noqa: PT011  the mock's own
        turn_access(on=False)

    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


def test_the_switches_are_one_row(access_on):
    with pytest.raises(IntegrityError), transaction.atomic():
        AccessSettings.objects.create(id=AccessSettings.ONLY_ID + 1)
    assert AccessSettings.objects.count() == 1
