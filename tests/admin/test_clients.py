"""OAuth clients: who registered, what the owner allowed them, and how one is forgotten."""

from datetime import timedelta
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry

from agent_access.connections import create_browser_connection, revoke_connection
from agent_access.models import AuditEvent, Connection, Receipt
from agent_access.models.connections import RevokedReason
from agent_access.oauth import retention, validator
from agent_access.oauth.models import AccessToken, Application, Grant, RefreshToken
from agent_access.switches import turn_access
from agent_access.verification import find_breaks
from invoicing.models import Company
from tests.agents import HOST, HttpAgent
from tests.oauth.programs import Browser
from tests.snapshots import take_snapshot
from tests.threads import PATIENCE_SECONDS, Encounter, run_together
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

LIST = "/admin/agent_oauth/application/"


@pytest.fixture
def client_record(client_program) -> Application:
    client: Application = Application.objects.get()
    return client


def delete_path(client: Application) -> str:
    return f"{LIST}{client.pk}/delete/"


def test_the_list_says_who_registered_and_what_is_live(owner_desk, browser_connection):
    page = main_of(owner_desk.get(LIST))
    for expected in (
        "Browser agent",
        "Its own registration",
        "https://client.example/callback",
        'data-label="Live connections"><div>1</div>',
    ):
        assert expected in page
    revoke_connection(browser_connection.id, reason=RevokedReason.CLIENT_REVOKED)
    assert 'data-label="Live connections"><div>0</div>' in main_of(owner_desk.get(LIST))


def test_a_client_known_by_its_document_is_told_apart(owner_desk, client_record):
    Application.objects.update(registration_source="cimd", client_id="https://client.example/me")
    page = main_of(owner_desk.get(LIST))
    assert "Its metadata document" in page
    shown = main_of(owner_desk.get(f"{LIST}{client_record.pk}/"))
    assert "https://client.example/me" in shown
    assert "You have allowed it none." in shown


def test_clients_are_searched(owner_desk, client_record):
    for search in ("browser", "client.example", client_record.client_id):
        assert "Browser agent" in main_of(owner_desk.get(LIST, {"q": search}))
    assert "No client was found." in main_of(owner_desk.get(LIST, {"q": "nobody"}))


def test_before_the_first_client_the_list_says_where_one_asks(owner_desk):
    page = main_of(owner_desk.get(LIST))
    assert f"A client asks for access at https://{HOST}/mcp" in page
    assert "No client has asked yet." in page


def test_the_page_of_a_client_shows_its_connections_and_no_secret(
    owner_desk, client_record, browser_connection, pair
):
    page = main_of(owner_desk.get(f"{LIST}{client_record.pk}/"))
    assert f"/admin/agent_access/connection/{browser_connection.id}/" in page
    assert "acts as Dana Delegate" in page
    digests = [
        *Grant.objects.values_list("code", flat=True),
        *AccessToken.objects.values_list("token_checksum", flat=True),
        *RefreshToken.objects.values_list("token_checksum", flat=True),
    ]
    assert len(digests) == 3
    for secret in (*digests, *pair.values()):
        assert str(secret) not in page or str(secret).isdigit()


def test_the_page_of_a_client_says_which_of_its_connections_are_over(
    owner_desk, client_record, browser_connection
):
    path = f"{LIST}{client_record.pk}/"
    assert '<span class="tag good">Live</span>' in main_of(owner_desk.get(path))
    created_at = browser_connection.created_at - timedelta(days=31)
    Connection.objects.update(created_at=created_at, expires_at=created_at + timedelta(days=1))
    assert '<span class="tag">Expired</span>' in main_of(owner_desk.get(path))


@pytest.mark.requirement("revocation.evidence_remains")
def test_a_client_is_deleted_after_a_question(
    owner_desk, client_program, client_record, browser_connection, pair, connection
):
    owner = Company.objects.get().owner
    agent = HttpAgent(pair["access_token"])
    agent.call("customers.search")
    page = main_of(owner_desk.get(delete_path(client_record)))
    assert "1 live connection will end." in page
    assert "The records of its connections, their receipts and the audit stay." in page
    assert agent.call("tools.list").status == 200

    answer = owner_desk.post(delete_path(client_record))
    assert (answer.status_code, answer["Location"]) == (302, LIST)
    said = main_of(owner_desk.get(LIST))
    assert "The client is deleted. 1 connection ended." in said
    assert agent.call("tools.list").status == 401
    assert client_program.refresh(pair["refresh_token"]).body["error"] == "invalid_client"
    for model in (Application, Grant, AccessToken, RefreshToken):
        assert not model.objects.exists()

    kept = Connection.objects.get(pk=browser_connection.id)
    assert (kept.revoked_reason, kept.client_name) == ("owner_revoked", "Browser agent")
    assert AuditEvent.objects.filter(connection_id=kept.id, action="customers.search").exists()
    assert Connection.objects.get(pk=connection.id).revoked_at is None
    told = AuditEvent.objects.filter(action__in=["client:deleted", "connection:revoked"])
    assert {(e.action, e.target, e.actor_id, e.transport) for e in told} == {
        ("client:deleted", client_program.client_id, owner.id, "web"),
        ("connection:revoked", str(kept.id), owner.id, "web"),
    }
    assert list(find_breaks()) == []
    assert not LogEntry.objects.exists()
    page = main_of(owner_desk.get(f"/admin/agent_access/connection/{kept.id}/"))
    for expected in ("Browser agent", client_program.client_id, "The owner revoked it at"):
        assert expected in page


def test_a_client_without_a_connection_is_deleted_too(owner_desk, client_record):
    assert "No live connection will end." in main_of(owner_desk.get(delete_path(client_record)))
    owner_desk.post(delete_path(client_record))
    assert "The client is deleted." in main_of(owner_desk.get(LIST))
    assert not Application.objects.exists()
    assert not Connection.objects.exists()


def test_a_client_that_is_gone_is_not_deleted_again(owner_desk, client_record):
    owner_desk.post(delete_path(client_record))
    before, events = take_snapshot(), AuditEvent.objects.count()
    assert owner_desk.post(delete_path(client_record)).status_code == 404
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


def test_a_deletion_that_is_interrupted_has_ended_the_connections_and_is_done_again(
    owner_desk, client_record, pair, monkeypatch
):
    with monkeypatch.context() as patched:
        patched.setattr(retention, "_delete_batch", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            owner_desk.post(delete_path(client_record))
    assert HttpAgent(pair["access_token"]).call("tools.list").status == 401
    assert Application.objects.get() == client_record

    assert owner_desk.post(delete_path(client_record)).status_code == 302
    for model in (Application, Grant, AccessToken, RefreshToken):
        assert not model.objects.exists()
    assert list(find_breaks()) == []


@pytest.mark.postgresql  # SQLite has one writer
@pytest.mark.django_db(transaction=True)
def test_who_stops_agents_does_not_wait_while_the_tokens_of_a_client_are_deleted(
    owner_desk, client_record, pair, monkeypatch
):
    """There may be a million."""
    encounter, overtaken = Encounter(), []
    delete_batch = retention._delete_batch

    def delete_late(*args: Any) -> int:
        overtaken.append(encounter.wait_here())
        return delete_batch(*args)

    def delete() -> int:
        status: int = owner_desk.post(delete_path(client_record)).status_code
        return status

    def stop() -> int:
        return encounter.come(partial(turn_access, on=False))

    monkeypatch.setattr(retention, "_delete_batch", delete_late)
    deleted, _ = run_together([delete, stop])
    assert (deleted, overtaken) == (302, [True, True, True])
    for model in (Application, Grant, AccessToken, RefreshToken):
        assert not model.objects.exists()


def test_a_consent_to_a_client_that_was_deleted_meanwhile_makes_nothing(
    owner, delegate, client_program, monkeypatch
):
    """The page was shown; before the connection is made the client is gone, and others are not."""
    client = Application.objects.get()
    Application.objects.create(client_id="another", redirect_uris=client.redirect_uris)

    def delete_first(*args: Any, **kwargs: Any) -> Connection:
        Application.objects.filter(pk=client.pk).delete()
        return create_browser_connection(*args, **kwargs)

    monkeypatch.setattr(validator, "create_browser_connection", delete_first)
    answer = Browser(owner).allow(client_program.authorize_path(), delegate)
    assert answer.status_code == 422
    assert b"The client was deleted meanwhile." in answer.content
    assert not Connection.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_deletion_and_a_refresh_at_once_leave_no_token(
    owner_desk, client_program, client_record, pair, browser_connection
):
    started = Event()

    def refresh() -> int:
        started.wait(PATIENCE_SECONDS)
        status: int = client_program.refresh(pair["refresh_token"]).status
        return status

    def delete() -> int:
        started.set()
        status: int = owner_desk.post(delete_path(client_record)).status_code
        return status

    refreshed, deleted = run_together([refresh, delete])
    assert deleted == 302
    assert refreshed in {200, 400, 401}
    for model in (Application, Grant, AccessToken, RefreshToken):
        assert not model.objects.exists()
    assert Receipt.objects.count() == 0
    browser_connection.refresh_from_db()
    assert browser_connection.revoked_reason == "owner_revoked"
    assert list(find_breaks()) == []
