"""How browser connections end: the switches, the client, time and people, and how it is told."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command

from agent_access.admin.revocations import describe_revocation
from agent_access.models import AuditEvent
from agent_access.switches import turn_access, turn_sign_in
from tests.agents import HttpAgent
from tests.interface.refusals import nothing_changes
from tests.oauth.endings import reason_of
from tests.oauth.programs import Browser, Machine, refusal_of
from tests.web.forms import text_of

RESOURCE, SERVER = (
    f"/.well-known/oauth-{what}" for what in ("protected-resource", "authorization-server")
)
GETS = [RESOURCE, f"{RESOURCE}/mcp", SERVER, f"{SERVER}/mcp"]
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
def test_either_switch_takes_sign_in_away_and_on_again_it_revives_nothing(
    program, code, pair, browser_connection, owner
):
    """tests/agent_access/test_revocation_matrix.py shows what either ends."""
    assert turn_sign_in(on=False) == 1
    assert_nothing_is_there(owner)
    turn_sign_in(on=True)
    assert program.refresh(pair["refresh_token"]).body["error"] == "invalid_grant"
    assert program.exchange(code).body["error"] == "invalid_grant"
    assert reason_of(browser_connection) == "browser_sign_in_off"
    turn_access(on=False)
    assert_nothing_is_there(owner)


def test_a_consent_that_meets_the_switch_makes_nothing(path, browser, delegate, monkeypatch):
    # The page found sign-in on; before the connection is made the owner's other hand was faster.
    turn_sign_in(on=False)
    monkeypatch.setattr("agent_access.oauth.pages.is_sign_in_on", lambda: True)
    with nothing_changes():
        response = browser.allow(path, delegate)
    assert response.status_code == 422
    assert b"Browser sign-in is off; the owner must turn it on first." in response.content


@pytest.mark.requirement("sign_in.switch")
def test_the_command_switches_and_says_what_it_did(program, pair, browser_connection):
    def turn(state: str) -> str:
        told = StringIO()
        call_command("browser_sign_in", state, stdout=told)
        return told.getvalue()

    assert turn("off") == "Browser sign-in is off. Connections ended: 1.\n"
    assert turn("on") == "Browser sign-in is on.\n"
    turn_access(on=False)
    early = "Browser sign-in is on. It works as soon as agent access is on too.\n"
    assert turn("on") == early
    actions = AuditEvent.objects.filter(action__startswith="browser_sign_in").order_by("sequence")
    turned = [(f"browser_sign_in:turned_{state}", "command") for state in ("on", "off", "on")]
    assert list(actions.values_list("action", "transport")) == turned


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


@pytest.mark.requirement("sign_in.revoke")
def test_revoking_no_token_or_another_clients_is_no_error(register_program, pair):
    thief = register_program("https://thief.example/")
    with nothing_changes():
        for token in ("unknown", "iva_" + "A" * 43, pair["access_token"], pair["refresh_token"]):
            assert thief.revoke(token).status == 200


def test_revoking_needs_a_client_and_a_token(program, pair):
    for client_id in (None, "nobody"):
        refused = program.revoke(pair["access_token"], client_id=client_id)
        assert refusal_of(refused) == (401, "invalid_client")
    empty = program.post_form("/oauth/revoke", {"client_id": program.client_id})
    assert refusal_of(empty) == (400, "invalid_request")


def test_why_a_connection_ended_is_told_in_words(program, pair, browser_connection):
    assert describe_revocation(browser_connection) == ""
    program.refresh(pair["refresh_token"])
    program.address = "203.0.113.7"
    with time_machine.travel(datetime(2030, 3, 2, 12, 3, 9, tzinfo=UTC), tick=False):
        program.refresh(pair["refresh_token"])
    browser_connection.refresh_from_db()
    told = "A refresh token was used twice at 12:03 UTC on 2030-03-02 from 203.0.113.7."
    assert describe_revocation(browser_connection) == told
