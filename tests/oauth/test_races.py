"""One code and one refresh token, used at once: one answer, and then the connection's end."""

from functools import partial

import pytest

from agent_access.models import Connection
from agent_access.oauth.models import RefreshToken
from agent_access.switches import turn_access, turn_sign_in
from agent_access.verification import find_breaks
from tests.agents import Answer, HttpAgent
from tests.threads import run_together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.requirement("sign_in.reuse")]


def assert_one_and_the_end(answers: list[Answer], reason: str) -> None:
    """Exactly one 200, everybody else refused, and no live token anywhere."""
    given = [answer.body for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status != 200]
    assert len(given) == 1
    assert {(each.status, each.body["error"]) for each in refused} == {(400, "invalid_grant")}
    assert Connection.objects.get().revoked_reason == reason
    assert HttpAgent(given[0]["access_token"]).call("tools.list").status == 401
    assert list(find_breaks()) == []


def test_of_many_exchanges_of_one_code_one_succeeds(program, code):
    answers = run_together([lambda: program.exchange(code)] * 10)
    assert_one_and_the_end(answers, "code_reuse")
    assert RefreshToken.objects.count() == 1


def test_of_many_refreshes_with_one_token_one_succeeds(program, pair):
    answers = run_together([lambda: program.refresh(pair["refresh_token"])] * 10)
    assert_one_and_the_end(answers, "refresh_reuse")
    assert RefreshToken.objects.count() == 2
    left = [answer.body["refresh_token"] for answer in answers if answer.status == 200]
    assert program.refresh(left[0]).body["error"] == "invalid_grant"


def test_an_old_and_a_new_refresh_token_at_once_end_the_connection(program, pair):
    newest = program.refresh(pair["refresh_token"]).body
    tokens = [pair["refresh_token"], newest["refresh_token"]]
    run_together([partial(program.refresh, token) for token in tokens])
    assert Connection.objects.get().revoked_reason == "refresh_reuse"


def test_a_refresh_and_a_revocation_at_once_leave_no_live_token(program, pair):
    refresh = partial(program.refresh, pair["refresh_token"])
    revoke = partial(program.revoke, pair["access_token"])
    refreshed, revoked = run_together([refresh, revoke])
    assert revoked.status == 200
    assert Connection.objects.get().revoked_reason == "client_revoked"
    tokens = [pair["access_token"]]
    if refreshed.status == 200:
        tokens.append(refreshed.body["access_token"])
    assert {HttpAgent(token).call("tools.list").status for token in tokens} == {401}


def test_an_exchange_and_the_switch_at_once_leave_no_live_token(program, code):
    def switch() -> Answer:
        turn_sign_in(on=False)
        return Answer(200, {}, b"")

    exchanged, _ = run_together([lambda: program.exchange(code), switch])
    assert Connection.objects.get().revoked_reason == "browser_sign_in_off"
    turn_access(on=True)
    if exchanged.status == 200:
        token = exchanged.body["access_token"]
        assert HttpAgent(token).call("tools.list").status == 401
