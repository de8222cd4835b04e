"""What stops a message at the door: HTTP errors, each with a JSON-RPC error and our own word."""

import gzip
from codecs import BOM_UTF8, BOM_UTF16_LE
from io import BytesIO
from typing import Any

import pytest
import time_machine

from agent_access import audit
from agent_access.bodies import MAX_BODY_BYTES
from agent_access.errors import BYTE_ORDER_MARK, CONTENT_ENCODED
from agent_access.switches import turn_access
from mcp_gateway.views import WRONG_ADDRESS
from tests.agents import BAD_CREDENTIAL, CHALLENGE, HttpAgent
from tests.interface.refusals import OUTSIDE
from tests.mcp_agent import McpAgent
from tests.mcp_gateway.answers import audit_of, error, refusal, seen

# The door is the same whatever is behind it; test_tool_calls.py asks both databases.
pytestmark = pytest.mark.sqlite

MESSAGE = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@pytest.mark.requirement("mcp.protocol_failure", "no_store.mcp")
@pytest.mark.parametrize("reason", OUTSIDE)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_request_from_outside_the_one_address_is_forbidden(legacy, connection, reason, method):
    changes, message = OUTSIDE[reason]
    answer = legacy.request(method, "/mcp", body=MESSAGE, **changes)
    assert seen(answer) == refusal(403, "forbidden", message)
    assert answer.headers["Cache-Control"] == "no-store"
    assert audit_of(connection) == []


@pytest.mark.requirement("mcp.get_and_delete", "error.method_on_mcp", "mcp.transport")
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD", "TRACE"])
def test_only_post_is_answered_and_needs_no_credential_to_say_so(access_on, connection, method):
    answer = HttpAgent(None).request(method, "/mcp")
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    if method != "HEAD":
        assert seen(answer) == refusal(405, "method_not_allowed")
    assert audit_of(connection) == []


@pytest.mark.requirement("mcp.get_and_delete")
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_with_access_off_there_is_nothing(legacy, method):
    turn_access(on=False)
    answer = legacy.request(method, "/mcp", body=MESSAGE)
    assert seen(answer) == refusal(404, "not_found")


@pytest.mark.requirement("mcp.address")
@pytest.mark.parametrize("path", ["/mcp/", "/mcp/tools", "/mcp//", "/mcp/sse"])
@pytest.mark.parametrize("is_signed_in", [True, False])
def test_an_address_below_the_endpoint_names_the_right_one(
    agent, connection, caplog, path, is_signed_in
):
    """Many clients tell their person no more than "Session terminated"."""
    address = "https://invoices.example/mcp"
    caller = McpAgent(agent.credential if is_signed_in else None)
    answer = caller.request("POST", path, body=MESSAGE)
    text = WRONG_ADDRESS.format(address=address)
    assert seen(answer) == refusal(404, "not_found", text, address=address)
    assert f"The MCP endpoint is {address}, without anything after it" in text
    [line] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line == f"A client called an address below the MCP endpoint, which is {address}"
    assert audit_of(connection) == []


@pytest.mark.parametrize("path", ["/mcp/", "/mcp/sse"])
def test_with_access_off_no_address_is_named(agent, path):
    turn_access(on=False)
    answer = agent.request("POST", path, body=MESSAGE)
    assert seen(answer) == refusal(404, "not_found")


@pytest.mark.requirement("mcp.protocol_failure")
@pytest.mark.parametrize(
    ("credential", "challenge"), [(None, CHALLENGE), ("wrong", BAD_CREDENTIAL)]
)
def test_a_caller_who_is_not_known_is_challenged(access_on, credential, challenge):
    answer = McpAgent(credential).send("tools/list")
    assert seen(answer) == refusal(401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == challenge


def test_a_cookie_and_a_url_parameter_let_nobody_in(agent):
    query = f"access_token={agent.credential}"
    headers = {"Cookie": f"sessionid={agent.credential}"}
    answer = McpAgent(None).request("POST", "/mcp", body=MESSAGE, query=query, headers=headers)
    assert answer.status == 401


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"],
)
def test_a_message_that_is_not_called_json_is_refused(legacy, connection, content_type):
    answer = legacy.request("POST", "/mcp", body=MESSAGE, content_type=content_type)
    assert seen(answer) == refusal(415, "json_required")
    assert audit_of(connection) == [("mcp.message", "json_required", "mcp")]


def test_an_encoded_message_is_refused_with_a_text_of_its_own(legacy, connection):
    headers = {"Content-Encoding": "gzip"}
    answer = legacy.request("POST", "/mcp", body=gzip.compress(MESSAGE), headers=headers)
    assert seen(answer) == refusal(415, "json_required", CONTENT_ENCODED)
    assert audit_of(connection) == [("mcp.message", "json_required", "mcp")]


@pytest.mark.parametrize("mark", [BOM_UTF8, BOM_UTF16_LE])
def test_a_byte_order_mark_is_refused_with_a_text_of_its_own(legacy, mark):
    answer = legacy.request("POST", "/mcp", body=mark + MESSAGE)
    assert seen(answer) == error(400, -32700, BYTE_ORDER_MARK, problems=[], fields=[])


@pytest.mark.parametrize("length", [None, "", "5", "-1", "0", "x"])
def test_a_message_over_256_kib_is_too_large_whatever_its_length_claims(legacy, connection, length):
    body = MESSAGE.ljust(MAX_BODY_BYTES + 1)
    lie: dict[str, Any] = {}
    if length is not None:
        terminated = {"wsgi.input_terminated": True, "wsgi.input": BytesIO(body)}
        lie = {"CONTENT_LENGTH": length, **terminated}
    answer = legacy.request("POST", "/mcp", body=body, **lie)
    assert seen(answer) == refusal(413, "payload_too_large")
    assert audit_of(connection) == [("mcp.message", "payload_too_large", "mcp")]


def test_a_message_of_exactly_256_kib_is_read(legacy):
    assert legacy.request("POST", "/mcp", body=MESSAGE.ljust(MAX_BODY_BYTES)).status == 200


@pytest.mark.parametrize("limit", ["LIMIT_PER_ADDRESS", "LIMIT_PER_CONNECTION"])
def test_over_a_limit_a_client_hears_how_long_to_wait(agent, http, connection, settings, limit):
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, limit: 2}
    with time_machine.travel("2026-03-02T09:00:30Z", tick=False) as clock:
        http.call("teams.list")
        allowed = agent.send("tools/list")
        refused = [agent.send("tools/list") for _ in range(3)]
        clock.shift(int(refused[0].headers["Retry-After"]))
        again = agent.send("tools/list")

    assert (allowed.status, again.status) == (200, 200)
    assert [seen(answer) for answer in refused] == [
        refusal(429, "rate_limited", retry_after=int(answer.headers["Retry-After"]))
        for answer in refused
    ]
    assert 1 <= int(refused[0].headers["Retry-After"]) <= 60
    over = [event for event in audit_of(connection) if event[1] == "rate_limited"]
    expected = [("mcp.message", "rate_limited", "mcp")]
    assert over == (expected if limit == "LIMIT_PER_CONNECTION" else [])


def test_every_counted_answer_says_what_remains(agent):
    answers = [agent.send("tools/list"), agent.send("nothing"), agent.post(b"{")]
    assert [answer.headers["RateLimit-Policy"] for answer in answers] == [
        '"address";q=60;w=60, "connection";q=60;w=60'
    ] * 3
    assert [
        answer.headers["RateLimit"].count(f";r={60 - n};")
        for n, answer in enumerate(answers, start=1)
    ] == [2, 2, 2]


def test_every_answer_has_a_request_id_of_its_own(agent):
    answers = [agent.send("tools/list"), agent.post(b"{"), McpAgent(None).send("ping")]
    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 3


@pytest.mark.usefixtures("as_in_production")
def test_a_list_of_tools_that_fails_is_unavailable_with_the_id(agent, monkeypatch):
    monkeypatch.setattr(audit, "record_call", lambda *_, **__: 1 / 0)

    answer = agent.send("tools/list")

    expected = refusal(503, "unavailable")
    expected[1]["id"] = 1
    assert seen(answer) == expected


@pytest.mark.usefixtures("as_in_production")
def test_a_cache_that_is_gone_is_unavailable_without_an_id(agent, monkeypatch):
    monkeypatch.setattr("agent_access.admission.spend", lambda *_, **__: 1 / 0)
    assert seen(agent.send("tools/list")) == refusal(503, "unavailable")
