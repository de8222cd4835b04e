"""Whatever bytes arrive at whatever endpoint: no 5xx, an error of the interface, nothing stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents import Answer
from tests.api_document import API, check_documented
from tests.fuzzing.calls import calls_of_mcp, calls_of_sign_in, calls_of_tools
from tests.fuzzing.effort import try_hard
from tests.fuzzing.mutations import Call, spoilt
from tests.fuzzing.sending import is_refused, read_mcp
from tests.oauth.programs import RETURN_ADDRESS, Program

MACHINES = ("/oauth/register", "/oauth/token", "/oauth/revoke")


@pytest.mark.django_db
def test_every_http_tool_answers_any_bytes_as_documented(agent, arguments, sent):
    @try_hard(150)
    @given(st.sampled_from(calls_of_tools(agent, arguments)).flatmap(spoilt))
    def fuzz(call: Call) -> None:
        answer = sent.send(call)
        sent.expect(answer, refused=is_refused(answer))
        if API.fullmatch(call.path):
            assert answer.headers["Content-Type"] == "application/json"
            check_documented(call.method, call.path, answer)

    fuzz()


@pytest.mark.django_db
def test_the_mcp_endpoint_answers_any_bytes_with_json_rpc(agent, arguments, sent):
    @try_hard(150)
    @given(st.sampled_from(calls_of_mcp(agent, arguments)).flatmap(spoilt))
    def fuzz(call: Call) -> None:
        answer = sent.send(call)
        is_mcp = call.path == "/mcp"
        sent.expect(answer, refused=read_mcp(answer) if is_mcp else is_refused(answer))

    fuzz()


def read_sign_in(call: Call, answer: Answer) -> bool:
    """Hold an answer of browser sign-in to OAuth's form; return whether it is a refusal."""
    assert answer.status in {200, 201, 302, 400, 401, 403, 404, 405, 413, 415, 422}
    if call.path in MACHINES and is_refused(answer) and answer.status != 403:
        assert {"error"} <= set(answer.body) <= {"error", "error_description"}
    if answer.status == 302:
        # Before the owner decided nobody is sent to an address that a client named.
        assert RETURN_ADDRESS not in answer.headers["Location"].partition("?")[0]
    return is_refused(answer) or call.path != "/oauth/register"


@pytest.mark.django_db
def test_browser_sign_in_answers_any_bytes_in_oauths_form(sign_in_on, owner, sent):
    program = Program()
    registration = {"redirect_uris": [RETURN_ADDRESS]}
    program.client_id = program.post_json("/oauth/register", registration).body["client_id"]

    @try_hard(60)
    @given(st.sampled_from(calls_of_sign_in(program)).flatmap(spoilt))
    def fuzz(call: Call) -> None:
        answer = sent.send(call)
        sent.expect(answer, refused=read_sign_in(call, answer))

    fuzz()


@pytest.mark.django_db
def test_the_calls_that_are_spoilt_are_valid(agent, arguments, sent):
    for call in calls_of_tools(agent, arguments):
        assert sent.send(call).status in {200, 201, 202}, call.path
    for call in calls_of_mcp(agent, arguments):
        answer = sent.send(call)
        found = json.loads(answer.content or b"{}")
        if "error" not in found:
            result = found.get("result", {})
            # The draft moved on when it was updated over HTTP, and its approval was executed.
            moved = result.get("structuredContent", {}).get("error", {}).get("code")
            assert moved in {None, "conflict", "approval_used"}, call.body
