"""Codes and tokens: what they give, how long they live, and for whom."""

import logging
import re
from datetime import timedelta

import pytest
from django.apps import apps
from django.utils import timezone

from agent_access.models import AuditEvent, Connection
from agent_access.oauth.models import Grant, RefreshToken
from tests.agents import HttpAgent
from tests.mcp_agent import McpAgent
from tests.oauth.endings import reason_of
from tests.oauth.programs import BASE_URL, RESOURCE, parameters_of, refusal_of
from tests.tool_table import SCOPES


@pytest.mark.requirement("sign_in.token", "sign_in.access_token", "no_store.sign_in")
def test_a_code_gives_a_pair_of_tokens(program, code):
    answer = program.exchange(code)

    pair = answer.body
    assert answer.status == 200
    assert re.fullmatch(r"iva_[A-Za-z0-9_-]{43}", pair.pop("access_token"))
    assert re.fullmatch(r"ivr_[A-Za-z0-9_-]{43}", pair.pop("refresh_token"))
    assert pair == {"token_type": "Bearer", "expires_in": 3600, "scope": " ".join(SCOPES)}
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.requirement("authentication.access_token", "sign_in.refresh_token_calls_nothing")
@pytest.mark.parametrize("agent_kind", [HttpAgent, McpAgent])
def test_a_refresh_token_calls_nothing(agent_kind, pair):
    assert agent_kind(pair["access_token"]).call("customers.search").status == 200
    answer = agent_kind(pair["refresh_token"]).request("GET", "/api/v1/tools")
    assert (answer.status, answer.code) == (401, "unauthenticated")


def test_the_verifier_of_rfc_7636_appendix_b_is_the_right_one(program, browser, delegate):
    path = program.authorize_path(code_challenge="E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    code = parameters_of(browser.allow(path, delegate))["code"]
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert program.exchange(code, code_verifier=verifier).status == 200


@pytest.mark.requirement("sign_in.pkce", "sign_in.errors")
@pytest.mark.parametrize("verifier", ["another-verifier-which-is-long-enough-as-well", "", None])
def test_a_code_without_its_verifier_gives_nothing_and_stays_good(program, code, verifier):
    answer = program.exchange(code, code_verifier=verifier)
    assert answer.status == 400
    assert answer.body["error"] in {"invalid_grant", "invalid_request"}
    assert program.exchange(code).status == 200


@pytest.mark.requirement("sign_in.code", "limit.code_lifetime")
def test_a_code_lasts_five_minutes(program, obtain_code, clock):
    now = timezone.now()
    first, second = obtain_code(program), obtain_code(program)
    clock.move_to(now + timedelta(minutes=5) - timedelta(microseconds=1))
    assert program.exchange(first).status == 200
    clock.move_to(now + timedelta(minutes=5))
    assert refusal_of(program.exchange(second)) == (400, "invalid_grant")


@pytest.mark.requirement("sign_in.access_token", "limit.access_token_lifetime")
def test_an_access_token_lives_for_an_hour(program, obtain_code, clock):
    now = timezone.now()
    agent = HttpAgent(program.exchange(obtain_code(program)).body["access_token"])
    clock.move_to(now + timedelta(hours=1) - timedelta(microseconds=1))
    assert agent.call("tools.list").status == 200
    clock.move_to(now + timedelta(hours=1))
    assert agent.call("tools.list").status == 401


@pytest.mark.requirement("sign_in.access_token", "limit.access_token_lifetime")
def test_an_access_token_does_not_outlive_its_connection(program, obtain_code, clock):
    now = timezone.now()
    pair = program.exchange(obtain_code(program, days=1)).body
    clock.move_to(now + timedelta(days=1) - timedelta(minutes=10, milliseconds=600))
    pair = program.refresh(pair["refresh_token"]).body
    assert pair["expires_in"] == 600
    clock.move_to(now + timedelta(days=1))
    assert HttpAgent(pair["access_token"]).call("tools.list").status == 401
    assert program.refresh(pair["refresh_token"]).body["error"] == "invalid_grant"


@pytest.mark.requirement("sign_in.rotation", "sign_in.token")
def test_a_refresh_gives_a_new_pair(program, pair):
    answer = program.refresh(pair["refresh_token"])
    assert answer.status == 200
    assert answer.body["access_token"] != pair["access_token"]
    assert answer.body["refresh_token"] != pair["refresh_token"]
    assert answer.body["scope"] == pair["scope"]
    assert HttpAgent(answer.body["access_token"]).call("tools.list").status == 200


@pytest.mark.requirement("sign_in.reuse")
def test_a_rotated_refresh_token_used_again_ends_the_connection(program, pair, browser_connection):
    newest = program.refresh(program.refresh(pair["refresh_token"]).body["refresh_token"]).body
    assert refusal_of(program.refresh(pair["refresh_token"])) == (400, "invalid_grant")
    assert reason_of(browser_connection) == "refresh_reuse"
    for token in (pair["access_token"], newest["access_token"]):
        assert HttpAgent(token).call("tools.list").status == 401
    assert program.refresh(newest["refresh_token"]).body["error"] == "invalid_grant"


def test_neither_exchange_nor_refresh_widens_the_scope(program, browser, delegate):
    response = browser.allow(program.authorize_path(), delegate, scopes=["customers:read"])
    code = parameters_of(response)["code"]
    pair = program.exchange(code, scope="customers:read invoices:execute").body
    assert pair["scope"] == "customers:read"
    answer = program.refresh(pair["refresh_token"], scope="customers:read invoices:read")
    assert refusal_of(answer) == (400, "invalid_scope")
    assert answer.body["error_description"] == (
        "The owner did not allow all of these scopes. Refresh without scope for all that are"
        " allowed, or ask the owner for access again."
    )
    assert program.refresh(pair["refresh_token"]).body["scope"] == "customers:read"


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (" ", "customers:read invoices:read"),
        ("openid profile", "customers:read invoices:read"),
        ("documents.list", "customers:read invoices:read"),
        ("offline_access invoices:read", "invoices:read"),
        ("offline_access invoices:execute", None),
        ("invoices:read offline_access invoices:execute", None),
    ],
)
def test_of_a_refresh_scopes_that_are_not_ours_are_ignored_and_ours_must_be_allowed(
    program, browser, delegate, asked, given
):
    code = parameters_of(browser.allow(program.authorize_path(), delegate))["code"]
    pair = program.exchange(code, scope="offline_access").body
    assert pair["scope"] == "customers:read invoices:read"
    answer = program.refresh(pair["refresh_token"], scope=asked)
    if given is None:
        assert refusal_of(answer) == (400, "invalid_scope")
        answer = program.refresh(pair["refresh_token"])
        given = "customers:read invoices:read"
    assert (answer.status, answer.body["scope"]) == (200, given)


@pytest.mark.parametrize("agent_kind", [HttpAgent, McpAgent])
def test_a_token_that_was_refreshed_for_less_does_less(agent_kind, program, pair):
    less = program.refresh(pair["refresh_token"], scope="invoices:read").body
    agent = agent_kind(less["access_token"])
    assert agent.call("documents.list").status == 200
    assert agent.call("customers.search").status == 403


def test_a_refresh_may_name_a_capability_of_the_pilot(program, pair, browser_connection):
    granted = ["customers:read", "people.list"]
    Connection.objects.filter(pk=browser_connection.pk).update(grants=granted)
    first = program.refresh(pair["refresh_token"], scope="people.list openid").body
    assert first["scope"] == "people.list"
    assert program.refresh(first["refresh_token"]).body["scope"] == "customers:read people.list"


@pytest.mark.requirement("sign_in.resource_sent")
@pytest.mark.parametrize(
    "resource",
    [
        *(None, "", BASE_URL, f"{RESOURCE}/", "https://other.example/mcp"),
        *([RESOURCE, "https://other.example/mcp"], [RESOURCE, RESOURCE]),
    ],
    ids=str,
)
def test_exchange_and_refresh_demand_the_resource(program, code, resource):
    answer = program.exchange(code, resource=resource)
    assert refusal_of(answer) == (400, "invalid_target")
    assert answer.body["error_description"] == f"Send resource={RESOURCE}, exactly once."
    pair = program.exchange(code).body
    answer = program.refresh(pair["refresh_token"], resource=resource)
    assert refusal_of(answer) == (400, "invalid_target")
    assert program.refresh(pair["refresh_token"]).status == 200


def test_what_ends_a_connection_ends_its_refresh_tokens(
    program, pair, browser_connection, delegate
):
    delegate.session_revision += 1
    delegate.save(update_fields=["session_revision"])
    assert program.refresh(pair["refresh_token"]).body["error"] == "invalid_grant"
    assert reason_of(browser_connection) == "sessions_ended"


def test_no_code_and_no_token_is_kept_or_told(program, code, pair, signed_in_agent, caplog):
    caplog.set_level(logging.DEBUG)
    refreshed = program.refresh(pair["refresh_token"]).body
    signed_in_agent.call("tools.list")
    program.exchange(code)
    secrets = [code]
    for each in (pair, refreshed):
        secrets += [each["access_token"], each["refresh_token"]]
    kept = repr([list(model._base_manager.values()) for model in apps.get_models()])
    assert [secret for secret in secrets if secret in kept + caplog.text] == []


def test_the_digest_of_a_token_is_no_token(program, pair):
    digests = RefreshToken.objects.values_list("token_checksum", flat=True)
    assert program.refresh(digests[0]).body["error"] == "invalid_grant"
    codes = Grant.objects.values_list("code", flat=True)
    assert program.exchange(codes[0]).body["error"] == "invalid_grant"


def test_exchange_and_refresh_are_written_down(program, pair, browser_connection):
    program.refresh(pair["refresh_token"])
    events = AuditEvent.objects.filter(transport="oauth").order_by("sequence")
    told = list(events.values_list("action", "connection_id", "client_address"))
    connection_id = browser_connection.id
    assert told == [
        ("client:registered", None, "192.0.2.1"),
        ("code:exchanged", connection_id, "192.0.2.1"),
        ("token:refreshed", connection_id, "192.0.2.1"),
    ]
