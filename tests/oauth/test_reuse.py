"""A secret used twice ends its connection whoever sends it; refused requests are written down."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
import time_machine
from django.db import DatabaseError
from django.utils import timezone

from agent_access.models import AuditEvent, Connection
from agent_access.models.connections import RevokedReason
from agent_access.oauth import exchange
from agent_access.oauth.exchange import REUSE_HELP
from agent_access.oauth.models import RefreshToken
from agent_access.verification import find_breaks
from tests.agents import HttpAgent
from tests.interface.refusals import nothing_changes
from tests.oauth.endings import reason_of
from tests.oauth.programs import BASE_URL, RESOURCE, RETURN_ADDRESS, Program, refusal_of

# What else may be wrong with the request of whoever found the secret, and what an unused one gets.
THIEF = "the thief"
FLAWS: list[tuple[dict[str, Any], str]] = [
    *(({"client_id": each}, "invalid_client") for each in (None, "nobody", "https://x.example/c")),
    ({"client_id": THIEF}, "invalid_grant"),
    *(({"grant_type": each}, "unsupported_grant_type") for each in (None, "password", "openid")),
    *(({"resource": each}, "invalid_target") for each in (None, [RESOURCE, RESOURCE])),
]
FLAWS_OF_EXCHANGE: list[tuple[dict[str, Any], str]] = [
    *FLAWS,
    ({"code_verifier": None}, "invalid_request"),
    ({"code_verifier": "another-verifier-which-is-long-enough-as-well"}, "invalid_grant"),
    ({"redirect_uri": None}, "invalid_request"),
    *(({"redirect_uri": f"{each}/"}, "invalid_grant") for each in (RETURN_ADDRESS, BASE_URL)),
]


@pytest.fixture
def thief(register_program):
    return register_program("https://thief.example/")


def name_thief(flaw: dict[str, Any], thief: Program) -> dict[str, Any]:
    """Put the other client that is known into the flaw, where it wants one."""
    return {"client_id": thief.client_id} if flaw.get("client_id") == THIEF else flaw


def refusals() -> list[tuple[str, str, str]]:
    events = AuditEvent.objects.filter(action="token_request:refused").order_by("sequence")
    return list(events.values_list("target", "outcome", "client_address"))


@pytest.mark.requirement("sign_in.code", "sign_in.reuse")
@pytest.mark.parametrize("flaw", [{}, *(flaw for flaw, _ in FLAWS_OF_EXCHANGE)], ids=str)
def test_a_used_code_ends_its_connection_whatever_else_is_wrong(
    program, code, pair, browser_connection, thief, flaw
):
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        answer = program.exchange(code, **name_thief(flaw, thief))
    assert refusal_of(answer) == (400, "invalid_grant")
    assert answer.body["error_description"] == REUSE_HELP[RevokedReason.CODE_REUSE]
    assert answer.headers["Cache-Control"] == "no-store"
    assert reason_of(browser_connection) == "code_reuse"
    assert HttpAgent(pair["access_token"]).call("tools.list").status == 401
    assert program.refresh(pair["refresh_token"]).body["error"] == "invalid_grant"


@pytest.mark.requirement("sign_in.reuse")
@pytest.mark.parametrize("flaw", [{}, *(flaw for flaw, _ in FLAWS)], ids=str)
def test_a_rotated_token_ends_its_connection_whatever_else_is_wrong(
    program, pair, browser_connection, thief, flaw
):
    newest = program.refresh(pair["refresh_token"]).body
    answer = program.refresh(pair["refresh_token"], **name_thief(flaw, thief))
    assert refusal_of(answer) == (400, "invalid_grant")
    assert answer.body["error_description"] == REUSE_HELP[RevokedReason.REFRESH_REUSE]
    assert reason_of(browser_connection) == "refresh_reuse"
    assert HttpAgent(newest["access_token"]).call("tools.list").status == 401


@pytest.mark.parametrize("is_code", [True, False], ids=["code", "refresh token"])
def test_an_unused_secret_outlives_a_wrong_request(program, obtain_code, thief, subtests, is_code):
    secret, use, flaws = obtain_code(program), program.exchange, FLAWS_OF_EXCHANGE
    if not is_code:
        secret, use, flaws = use(secret).body["refresh_token"], program.refresh, FLAWS
    with nothing_changes():
        for flaw, error in flaws:
            with subtests.test(flaw=str(flaw)):
                status = 401 if error == "invalid_client" else 400
                assert refusal_of(use(secret, **name_thief(flaw, thief))) == (status, error)
    assert use(secret).status == 200


def test_a_used_code_beside_a_good_refresh_token_gives_nothing(
    program, code, pair, browser_connection
):
    answer = program.refresh(pair["refresh_token"], code=code)
    assert refusal_of(answer) == (400, "invalid_grant")
    assert reason_of(browser_connection) == "code_reuse"
    assert RefreshToken.objects.count() == 1


def test_no_later_failure_undoes_an_ending(program, code, pair, browser_connection, monkeypatch):
    monkeypatch.setattr(exchange, "Server", Mock(side_effect=DatabaseError))
    assert program.exchange(code).body["error"] == "invalid_grant"
    assert reason_of(browser_connection) == "code_reuse"


@pytest.mark.usefixtures("as_in_production")
def test_a_cache_that_fails_undoes_no_ending(program, code, pair, browser_connection, monkeypatch):
    monkeypatch.setattr(exchange, "is_first", Mock(side_effect=ConnectionError))
    assert program.exchange(code).status == 503
    assert reason_of(browser_connection) == "code_reuse"
    assert HttpAgent(pair["access_token"]).call("tools.list").status == 401


def test_a_refused_request_is_written_down_with_its_connection(program, code, browser, delegate):
    connection = Connection.objects.get()
    program.address = "203.0.113.7"
    program.exchange(code, code_verifier="another-verifier-which-is-long-enough-as-well")
    program.exchange(code, resource=None)
    target = str(connection.id)
    assert refusals() == [
        (target, "invalid_grant", "203.0.113.7"),
        (target, "invalid_target", "203.0.113.7"),
    ]
    told = AuditEvent.objects.filter(action="token_request:refused")
    assert set(told.values_list("chain", "connection_id", "actor_id", "transport")) == {
        ("administration", connection.id, None, "oauth")
    }
    assert list(find_breaks()) == []


def test_a_reuse_is_written_down_as_the_ending_and_as_the_refusal(program, code, pair):
    connection = Connection.objects.get()
    program.exchange(code)
    events = AuditEvent.objects.filter(connection_id=connection.id, chain="administration")
    assert list(events.order_by("sequence").values_list("action", "detail", "outcome")) == [
        ("connection:created", "", "ok"),
        ("code:exchanged", "", "ok"),
        ("connection:revoked", "code_reuse", "ok"),
        ("token_request:refused", "", "invalid_grant"),
    ]


def test_of_one_connection_and_error_one_refusal_a_minute_is_written_down(program, code, clock):
    for _ in range(3):
        program.exchange(code, resource=None)
    assert [outcome for _, outcome, _ in refusals()] == ["invalid_target"]
    clock.shift(timedelta(minutes=1))
    program.exchange(code, resource=None)
    assert [outcome for _, outcome, _ in refusals()] == ["invalid_target"] * 2


def test_of_all_strangers_noise_one_refusal_a_minute_is_written_down(
    program, register_program, clock
):
    other = register_program("https://other.example/")
    other.address = "203.0.113.7"
    for each in (program, other):
        each.exchange("guessed")
        each.refresh("guessed")
        each.exchange("guessed", client_id="nobody")
        each.exchange("guessed", grant_type="password")
    assert refusals() == [("", "invalid_grant", program.address)]
    clock.shift(timedelta(minutes=1))
    other.exchange("guessed", client_id="nobody")
    assert refusals()[1:] == [("", "invalid_client", "203.0.113.7")]
