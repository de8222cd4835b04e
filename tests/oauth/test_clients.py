"""A client that is forgotten: what ends with it, and that all of it happens or nothing."""

from typing import Any

import pytest
from django.db.models import QuerySet

from agent_access.audit import Actor, Origin
from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import Transport
from agent_access.oauth import clients
from agent_access.oauth.clients import connections_of, delete_client
from agent_access.oauth.models import AccessToken, Application, Grant, RefreshToken
from agent_access.verification import find_breaks
from tests.snapshots import take_snapshot
from tests.threads import Encounter, run_together

ORIGIN = Origin(transport=Transport.WEB)


def delete(client: Application, owner: Any) -> None:
    delete_client(client, by=Actor(ORIGIN, owner.id))


def test_a_deleted_client_takes_nothing_of_another_with_it(
    program, pair, register_program, obtain_code, owner
):
    other = register_program("https://other.example/")
    assert other.exchange(obtain_code(other)).status == 200
    delete(Application.objects.get(client_id=program.client_id), owner)
    reasons = dict(Connection.objects.values_list("client_id", "revoked_reason"))
    assert reasons == {program.client_id: "owner_revoked", other.client_id: ""}
    assert Application.objects.get().client_id == other.client_id
    for model in (Grant, AccessToken, RefreshToken):
        kept = model.objects.values_list("application__client_id", flat=True)
        assert [*kept] == [other.client_id]
    assert list(find_breaks()) == []


def test_two_who_delete_a_client_at_once_leave_one_deletion_in_the_audit(program, pair, owner):
    """Each of them found it before the other was done."""
    for client in (Application.objects.get(), Application.objects.get()):
        delete(client, owner)
    assert AuditEvent.objects.filter(action="client:deleted").count() == 1


@pytest.mark.postgresql  # where alone the second could find it while the first deletes it
@pytest.mark.django_db(transaction=True)
def test_a_deletion_waits_for_another_and_finds_the_client_gone(program, pair, owner, monkeypatch):
    encounter = Encounter()

    def hold_the_first(client: Application) -> QuerySet[Connection]:
        monkeypatch.setattr(clients, "connections_of", connections_of)
        encounter.wait_here()
        return connections_of(client)

    monkeypatch.setattr(clients, "connections_of", hold_the_first)
    first, second = Application.objects.get(), Application.objects.get()
    run_together(
        [lambda: delete(first, owner), lambda: encounter.come(lambda: delete(second, owner))]
    )
    assert AuditEvent.objects.filter(action="client:deleted").count() == 1


def test_a_deletion_that_fails_ends_no_connection(program, pair, owner, monkeypatch):
    def fail(client: Application) -> None:
        raise RuntimeError(client.client_id)

    monkeypatch.setattr(Application, "delete", fail)
    before, events = take_snapshot(), AuditEvent.objects.count()
    with pytest.raises(RuntimeError, match=program.client_id):
        delete(Application.objects.get(), owner)
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)
