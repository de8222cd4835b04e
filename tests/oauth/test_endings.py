"""How browser connections end: the switches, the client, time and people, and how it is told."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command

from agent_access.admin.revocations import describe_revocation
from agent_access.models import AuditEvent, Connection
from agent_access.switches import turn_access, turn_sign_in
from invoicing.models import Company
from tests.agents import HttpAgent
from tests.oauth.endings import reason_of
from tests.oauth.programs import Browser, Machine
from tests.snapshots import take_snapshot
from tests.web.forms import text_of

GETS = [
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
]
POSTS = ["/oauth/register", "/oauth/token", "/oauth/revoke"]


METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]


def assert_nothing_is_there(person=None) -> None:
    answers = [Machine().send("GET", path) for path in GETS]
    answers += [Machine().post_form(path, {}) for path in POSTS]
    assert {(each.status, each.body["error"]) for each in answers} == {(404, "not_found")}
    assert {each.headers["Cache-Control"] for each in answers} == {"no-store"}
    browser = Browser(person)
    browser.client.handler.enforce_csrf_checks = True
    for method in METHODS:
        page = browser.client.generic(
            method, "/oauth/authorize?client_id=x", secure=True, headers={"Host": browser.host}
        )
        assert (method, page.status_code) == (method, 404)
        assert page["Content-Type"].startswith("text/html")
        assert page["Cache-Control"] == "no-store"


@pytest.mark.requirement("sign_in.switch")
def test_sign_in_starts_off_and_has_nothing_to_find(access_on, owner):
    assert_nothing_is_there()
    assert_nothing_is_there(owner)


def test_no_rotation_carries_a_refresh_token_past_its_connection(program, pair, browser_connection):
    token = pair["refresh_token"]
    begun = browser_connection.created_at
    with time_machine.travel(begun, tick=False) as clock:
        for day in range(10, 30, 10):
            clock.move_to(begun + timedelta(days=day))
            token = program.refresh(token).body["refresh_token"]
        clock.move_to(browser_connection.expires_at)
        assert program.refresh(token).body["error"] == "invalid_grant"


def test_only_the_owner_is_told_that_sign_in_is_off(access_on, owner, delegate):
    pages = [Browser(person).open("/oauth/authorize") for person in (owner, delegate, None)]
    told = ["Agent access or browser sign-in is off." in text_of(page) for page in pages]
    assert told == [True, False, False]


@pytest.mark.requirement("sign_in.switch", "revocation.sign_in_off")
def test_turning_sign_in_off_ends_browser_connections_only(
    program, pair, browser_connection, connect, delegate, owner
):
    pasted, pasted_agent = connect(delegate)
    assert turn_sign_in(on=False) == 1
    assert reason_of(browser_connection) == "browser_sign_in_off"
    assert reason_of(pasted) == ""
    assert pasted_agent.call("tools.list").status == 200
    assert HttpAgent(pair["access_token"]).call("tools.list").status == 401
    assert_nothing_is_there(owner)


@pytest.mark.requirement("revocation.sign_in_off")
def test_turning_sign_in_on_again_revives_nothing(program, code, pair, browser_connection):
    turn_sign_in(on=False)
    turn_sign_in(on=True)
    assert HttpAgent(pair["access_token"]).call("tools.list").status == 401
    assert program.refresh(pair["refresh_token"]).body["error"] == "invalid_grant"
    assert program.exchange(code).body["error"] == "invalid_grant"
    assert reason_of(browser_connection) == "browser_sign_in_off"


def test_the_main_switch_takes_sign_in_away_too(program, pair, browser_connection, owner):
    assert turn_access(on=False) == 1
    assert reason_of(browser_connection) == "access_off"
    assert_nothing_is_there(owner)
    turn_access(on=True)
    assert program.refresh(pair["refresh_token"]).body["error"] == "invalid_grant"


def test_a_consent_that_meets_the_switch_makes_nothing(program, browser, delegate, monkeypatch):
    # The page found sign-in on; before the connection is made the owner's other hand was faster.
    turn_sign_in(on=False)
    monkeypatch.setattr("agent_access.oauth.consent.is_sign_in_on", lambda: True)
    before = take_snapshot()
    response = browser.allow(program.authorize_path(), delegate)
    assert response.status_code == 422
    assert b"Browser sign-in is off; the owner must turn it on first." in response.content
    assert take_snapshot() == before


@pytest.mark.requirement("sign_in.switch")
def test_the_command_switches_and_says_what_it_did(program, pair, browser_connection):
    off, on, early = StringIO(), StringIO(), StringIO()
    call_command("browser_sign_in", "off", stdout=off)
    call_command("browser_sign_in", "on", stdout=on)
    turn_access(on=False)
    call_command("browser_sign_in", "on", stdout=early)
    assert off.getvalue() == "Browser sign-in is off. Connections ended: 1.\n"
    assert on.getvalue() == "Browser sign-in is on.\n"
    assert early.getvalue() == (
        "Browser sign-in is on. It works as soon as agent access is on too.\n"
    )
    actions = AuditEvent.objects.filter(action__startswith="browser_sign_in").order_by("sequence")
    assert list(actions.values_list("action", "transport")) == [
        ("browser_sign_in:turned_on", "command"),
        ("browser_sign_in:turned_off", "command"),
        ("browser_sign_in:turned_on", "command"),
    ]


@pytest.mark.requirement("sign_in.revoke")
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
@pytest.mark.parametrize("hint", [None, "access_token", "refresh_token", "something"])
def test_revoking_either_token_ends_the_connection(program, pair, browser_connection, which, hint):
    answer = program.revoke(pair[which], token_type_hint=hint)
    assert (answer.status, answer.content) == (200, b"")
    assert answer.headers["Cache-Control"] == "no-store"
    assert reason_of(browser_connection) == "client_revoked"
    assert HttpAgent(pair["access_token"]).call("tools.list").status == 401
    assert program.refresh(pair["refresh_token"]).body["error"] == "invalid_grant"


@pytest.mark.parametrize("token", ["unknown", "iva_" + "A" * 43, "x" * 5000])
def test_revoking_what_is_no_token_is_no_error(program, pair, token):
    before = take_snapshot()
    assert program.revoke(token).status == 200
    assert take_snapshot() == before


@pytest.mark.requirement("sign_in.revoke")
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_another_clients_token_is_left_alone(register_program, pair, which):
    thief = register_program("https://thief.example/")
    before = take_snapshot()
    assert thief.revoke(pair[which]).status == 200
    assert take_snapshot() == before


def test_revoking_needs_a_client_and_a_token(program, pair):
    answers = [
        program.revoke(pair["access_token"], client_id=None),
        program.revoke(pair["access_token"], client_id="nobody"),
        program.post_form("/oauth/revoke", {"client_id": program.client_id}),
    ]
    assert [(each.status, each.body["error"]) for each in answers] == [
        (401, "invalid_client"),
        (401, "invalid_client"),
        (400, "invalid_request"),
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"is_active": False}, "user_deactivated"),
        ({"is_guest": True}, "user_became_guest"),
        ({"session_revision": 2}, "sessions_ended"),
    ],
)
def test_what_ends_the_person_ends_the_connection(
    signed_in_agent, browser_connection, delegate, change, expected
):
    type(delegate).objects.filter(pk=delegate.pk).update(**change)
    assert signed_in_agent.call("tools.list").status == 401
    assert reason_of(browser_connection) == expected


def test_another_owner_ends_the_connection(signed_in_agent, browser_connection, delegate):
    Company.objects.update(owner=delegate)
    assert signed_in_agent.call("tools.list").status == 401
    assert reason_of(browser_connection) == "owner_changed"


def test_another_address_ends_the_connection(
    signed_in_agent, browser_connection, program, pair, settings
):
    settings.AGENT_ACCESS |= {"BASE_URL": "https://invoices.example:8443"}
    program_there = {"headers": {"Host": "invoices.example:8443"}}
    fields = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
    fields |= {"client_id": program.client_id, "resource": "https://invoices.example:8443/mcp"}
    answer = program.post_form("/oauth/token", fields, **program_there)
    assert answer.body["error"] == "invalid_grant"
    assert reason_of(browser_connection) == "application_url_changed"


def test_why_a_connection_ended_is_told_in_words(program, pair, browser_connection):
    assert describe_revocation(browser_connection) == ""
    program.refresh(pair["refresh_token"])
    program.address = "203.0.113.7"
    with time_machine.travel(datetime(2030, 3, 2, 12, 3, 9, tzinfo=UTC), tick=False):
        program.refresh(pair["refresh_token"])
    browser_connection.refresh_from_db()
    assert describe_revocation(browser_connection) == (
        "A refresh token was used twice at 12:03 UTC on 2030-03-02 from 203.0.113.7."
    )


def test_an_ending_from_nowhere_names_no_address(browser_connection):
    with time_machine.travel(datetime(2030, 3, 2, 12, 3, tzinfo=UTC), tick=False):
        turn_sign_in(on=False)
    browser_connection.refresh_from_db()
    assert describe_revocation(browser_connection) == (
        "Browser sign-in was turned off at 12:03 UTC on 2030-03-02."
    )


def test_evidence_outlives_the_client(program, pair, browser_connection, signed_in_agent):
    signed_in_agent.call("tools.list")
    turn_sign_in(on=False)
    kept = Connection.objects.get()
    assert (kept.client_id, kept.client_name, kept.client_host) == (
        program.client_id,
        "Ledger agent",
        "client.example",
    )
    assert AuditEvent.objects.filter(connection_id=kept.id, action="tools.list").exists()
