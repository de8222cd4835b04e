"""A connection is renamed, renewed and revoked, and tells who is behind it."""

import re
from html import unescape
from typing import Any

import pytest

from agent_access import discovery
from agent_access.approvals.models import ApprovalRequest
from agent_access.models import AuditEvent, Connection
from tests.factories import PASSWORD
from tests.oauth.programs import Browser, make_program, parameters_of
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

LIST = "/admin/agent_access/connection/"


def text_of(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def page_of(desk: Any, connection: Connection) -> str:
    return text_of(main_of(desk.get(f"{LIST}{connection.pk}/")))


def rename(desk: Any, connection: Connection, name: str) -> Any:
    return desk.post(f"{LIST}{connection.pk}/rename/", {"name": name})


def test_a_connection_gets_another_name(owner_desk, owner, connection) -> None:
    answer = rename(owner_desk, connection, "Claude of Dana")
    assert answer.headers["Location"] == f"{LIST}{connection.pk}/"
    connection.refresh_from_db()
    assert connection.name == "Claude of Dana"
    event = AuditEvent.objects.get(action="connection:renamed")
    assert (event.actor_id, event.connection_id, event.detail) == (owner.pk, connection.pk, "")
    assert "It has its new name." in page_of(owner_desk, connection)


def test_the_same_name_is_no_act(owner_desk, connection) -> None:
    rename(owner_desk, connection, connection.name)
    assert not AuditEvent.objects.filter(action="connection:renamed").exists()


@pytest.mark.parametrize("name", ["", " ", "Two\nlines", "Hidden\u200b", "W" * 101])
def test_a_name_that_none_may_have_changes_nothing(owner_desk, connection, name) -> None:
    before = connection.name
    answer = rename(owner_desk, connection, name)
    assert answer.status_code == 422
    connection.refresh_from_db()
    assert connection.name == before
    assert not AuditEvent.objects.filter(action="connection:renamed").exists()


@pytest.mark.parametrize("who", ["delegate", "superuser", "administrator"])
def test_nobody_but_the_owner_renames(request, sign_in, connection, who) -> None:
    before = connection.name
    browser = sign_in(request.getfixturevalue(who))
    assert rename(browser, connection, "Mine").status_code == 403
    connection.refresh_from_db()
    assert connection.name == before


@pytest.mark.usefixtures("handed_over_first")
def test_a_former_owner_renames_nothing(owner_desk, connection) -> None:
    before = connection.name
    assert rename(owner_desk, connection, "Mine").status_code == 403
    connection.refresh_from_db()
    assert connection.name == before


def test_an_unknown_connection_is_renamed_by_nobody(owner_desk) -> None:
    missing = "0190a3f6-0000-7000-8000-000000000000"
    assert owner_desk.post(f"{LIST}{missing}/rename/", {"name": "x"}).status_code == 404


def test_the_renewal_is_filled_with_the_same_terms_and_approved_anew(
    owner_desk, connect, delegate
) -> None:
    old, _ = connect(delegate, scopes=["invoices:read", "customers:read"], days=9, name="Ledger")
    assert f"{LIST}add/?renews={old.pk}" in main_of(owner_desk.get(f"{LIST}{old.pk}/"))
    page = main_of(owner_desk.get(f"{LIST}add/?renews={old.pk}"))
    assert "This is filled with what Ledger has. Check it: you approve it anew." in text_of(page)
    assert re.findall(r'name="name" value="([^"]*)"', page) == ["Ledger"]
    assert re.findall(r'name="expires_in_days" value="([^"]*)"', page) == ["9"]
    assert f'<option value="{delegate.pk}" selected>' in page
    ticked = re.findall(r'name="scopes" value="([^"]*)"[^>]*checked', page)
    assert sorted(ticked) == ["customers:read", "invoices:read"]
    [once] = re.findall(r'name="once" value="([^"]*)"', page)
    form = {
        "name": "Ledger",
        "acts_as": str(delegate.pk),
        "scopes": ticked,
        "expires_in_days": "9",
        "once": once,
        "own_password": PASSWORD,
    }
    made = owner_desk.post(f"{LIST}add/?renews={old.pk}", form)
    assert made.status_code == 200
    assert f"{LIST}revoke/?id={old.pk}" in main_of(made)
    new = Connection.objects.exclude(pk=old.pk).get()
    old.refresh_from_db()
    assert (new.name, new.user_id, sorted(new.grants)) == ("Ledger", delegate.pk, sorted(ticked))
    assert new.credential_digest != old.credential_digest
    # The old one goes on until somebody revokes it.
    assert old.revoked_at is None


@pytest.mark.parametrize("named", ["x", "0190a3f6-0000-7000-8000-000000000000"])
def test_a_renewal_of_nothing_is_an_empty_form(owner_desk, access_on, named) -> None:
    page = main_of(owner_desk.get(f"{LIST}add/?renews={named}"))
    assert "This is filled with" not in page


def test_a_browser_connection_is_renewed_by_its_client(owner_desk, browser_connection) -> None:
    page = page_of(owner_desk, browser_connection)
    assert "The client signs in again, and you approve anew" in page
    assert "Prepare the renewal" not in page
    markup = main_of(owner_desk.get(f"{LIST}{browser_connection.pk}/"))
    assert re.findall(r'id="renewal-address"\s+class="secret"\s+value="([^"]*)"', markup) == [
        discovery.resource()
    ]


def test_of_a_pasted_credential_no_client_is_known(owner_desk, connection) -> None:
    assert "Not verified Nothing: it is whatever program was given the credential." in page_of(
        owner_desk, connection
    )


def test_what_a_client_says_of_itself_is_called_its_own_word(
    owner_desk, browser_connection
) -> None:
    page = page_of(owner_desk, browser_connection)
    assert (
        "Not verified Only that access was sent to client.example. It registered itself."
        " The rest is the client's own word: Calls itself Browser agent"
    ) in page


def test_the_home_of_a_client_with_a_document_is_verified(owner_desk, browser_connection) -> None:
    home = "https://client.example/agent.json"
    Connection.objects.filter(pk=browser_connection.pk).update(client_id=home)
    page = page_of(owner_desk, browser_connection)
    assert (
        f"Verified Its home is client.example: this service read its description there, at {home}."
    ) in page
    assert "Not verified" not in page


def test_a_client_on_the_same_computer_is_not_verified(owner_desk, browser_connection) -> None:
    Connection.objects.filter(pk=browser_connection.pk).update(client_host="127.0.0.1")
    assert (
        "Not verified Nothing but that it answered on the computer from which access was asked."
        in page_of(owner_desk, browser_connection)
    )


def test_a_grant_has_an_example(owner_desk, connect, delegate) -> None:
    held, _ = connect(delegate, scopes=["customers:read"])
    assert (
        "Search customers and see their names. customers:read For example: “Do we have a customer"
        " called Altmühl Brauerei?”"
    ) in page_of(owner_desk, held)


def test_revoking_says_what_it_stops(owner_desk, connection) -> None:
    page = text_of(main_of(owner_desk.get(f"{LIST}revoke/?id={connection.pk}")))
    assert (
        "What this stops Its credential is refused from the next call on. A call that is running"
        " now ends without having changed anything. What it asked its person to approve can no"
        " longer be carried out."
    ) in page
    assert "tokens" not in page


def test_revoking_a_browser_connection_names_its_tokens(owner_desk, browser_connection) -> None:
    page = text_of(main_of(owner_desk.get(f"{LIST}revoke/?id={browser_connection.pk}")))
    assert "Its access and refresh tokens are refused from the next call on." in page
    assert "credential is refused" not in page


def test_what_is_said_of_revoking_is_so(owner_desk, connect, delegate, draft_body) -> None:
    held, agent = connect(delegate)
    draft = agent.call("drafts.create", draft_body, key="a-key").data
    agent.call("documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="b-key")
    owner_desk.post(f"{LIST}revoke/", {"id": str(held.pk)})
    assert agent.call("customers.search").status == 401
    approval = ApprovalRequest.objects.get()
    assert approval.executed_at is None


def test_three_connections_of_one_client_are_told_apart(
    owner_desk, sign_in_on, owner, delegate, colleague, time_machine
) -> None:
    program = make_program("https://client.example/back", name="Claude")
    people = [delegate, colleague, delegate]
    for day, person in enumerate(people, start=2):
        time_machine.move_to(f"2026-03-0{day}T09:00:00+00:00", tick=False)
        answer = Browser(owner).allow(program.authorize_path(), person)
        program.exchange(parameters_of(answer)["code"])
    page = text_of(main_of(owner_desk.get(LIST)))
    for name, day in (("Dana Delegate", 2), ("Colin Colleague", 3), ("Dana Delegate", 4)):
        assert f"{name} since 2026-03-0{day}" in page
    titles = [
        re.findall(r"<title>(.*?)</title>", owner_desk.get(f"{LIST}{pk}/").content.decode())[0]
        for pk in Connection.objects.order_by("created_at").values_list("pk", flat=True)
    ]
    assert titles == [
        f"Claude, acts as {name} since 2026-03-0{day} · Administration · Invoicing"
        for name, day in (("Dana Delegate", 2), ("Colin Colleague", 3), ("Dana Delegate", 4))
    ]


def test_a_connection_leads_to_its_activity(owner_desk, connection) -> None:
    href = f"/agents/activity?connection={connection.pk}"
    assert f'href="{href}"' in main_of(owner_desk.get(f"{LIST}{connection.pk}/"))
    assert owner_desk.get(href).status_code == 200
