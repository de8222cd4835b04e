"""One JSON-RPC request or notification goes in; anything else is told why not."""

from typing import Any

import pytest

from tests.mcp_agent import LEGACY, MODERN
from tests.mcp_gateway.answers import UNKNOWN_METHOD, audit_of, error, invalid_message, seen

# How a message is read: no database is asked before it is.
pytestmark = pytest.mark.sqlite

MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1
REFUSED = ("mcp.message", "validation_failed", "mcp")

IDS = [1, 0, -1, MAX_INTEGER, MIN_INTEGER, "a", "", "ключ", "x" * 1000]
NO_IDS: list[Any] = [
    *(None, True, False, 1.0, 1.5, [], {}, [1]),
    *(MAX_INTEGER + 1, MIN_INTEGER - 1, 10**4000),
]


@pytest.mark.parametrize("id_", IDS)
def test_an_id_comes_back_as_it_was_sent(legacy, id_):
    answer = legacy.post({"jsonrpc": "2.0", "id": id_, "method": "ping"})
    assert seen(answer) == (200, {"jsonrpc": "2.0", "id": id_, "result": {}})


@pytest.mark.parametrize("id_", NO_IDS)
def test_what_cannot_be_an_id_is_refused(agent, connection, id_):
    answer = agent.post({"jsonrpc": "2.0", "id": id_, "method": "tools/list"})
    assert seen(answer) == invalid_message()
    assert audit_of(connection) == [REFUSED]


def test_an_id_of_more_digits_than_python_reads_is_refused_as_an_id(agent):
    digits = b"9" * 5000
    answer = agent.post(b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % digits)
    assert seen(answer) == invalid_message()


def test_an_id_that_no_utf_8_can_spell_is_refused(agent):
    answer = agent.post(b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}')
    assert seen(answer) == invalid_message()


@pytest.mark.requirement("mcp.message")
@pytest.mark.parametrize(
    "message",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        "ping",
        1,
        None,
        True,
        {},
        {"jsonrpc": "2.0"},
        {"jsonrpc": "2.0", "result": {}},
        {"jsonrpc": "2.0", "method": None},
        {"jsonrpc": "2.0", "method": 5},
        {"jsonrpc": "1.0", "method": "ping"},
        {"jsonrpc": 2.0, "method": "ping"},
        {"method": "ping"},
    ],
)
def test_an_array_and_what_is_no_message_fail(agent, connection, message):
    assert seen(agent.post(message)) == invalid_message()
    assert audit_of(connection) == [REFUSED]


@pytest.mark.requirement("mcp.message")
@pytest.mark.parametrize(
    "rest",
    [
        {"result": {}},
        {"result": {"tools": []}},
        {"error": {"code": -32601, "message": "no"}},
        {},
        {"method": 5},
        {"method": "ping", "params": []},
        {"method": "ping", "params": "x"},
        {"method": "ping", "params": None},
        {"method": "ping", "jsonrpc": "1.0"},
    ],
)
def test_a_client_response_or_a_broken_request_fails_with_its_id(agent, connection, rest):
    assert seen(agent.post({"jsonrpc": "2.0", "id": "seven", **rest})) == invalid_message("seven")
    assert audit_of(connection) == [REFUSED]


@pytest.mark.requirement("mcp.notification")
@pytest.mark.parametrize("version", [*LEGACY, MODERN, None])
@pytest.mark.parametrize(
    "message",
    [
        {"method": "notifications/initialized"},
        {"method": "notifications/cancelled", "params": {"requestId": 5}},
        {"method": "notifications/unheard-of", "params": {"_meta": {}}},
        {"method": "tools/call", "params": {"name": "drafts_create"}},
    ],
)
def test_a_notification_is_accepted_without_a_body(agent, connection, version, message):
    answer = agent.post({"jsonrpc": "2.0", **message}, headers={"MCP-Protocol-Version": version})
    assert (answer.status, answer.content) == (202, b"")
    assert audit_of(connection) == []


METHODS = [
    *("resources/list", "resources/read", "resources/templates/list", "prompts/list"),
    *("prompts/get", "completion/complete", "logging/setLevel", "subscriptions/listen"),
    *("tasks/get", "tools/List", "tools/list/", "", "notifications/initialized"),
]


@pytest.mark.requirement("mcp.supported")
@pytest.mark.parametrize("method", [*METHODS, "server/discover"])
def test_an_unknown_method_is_an_error_within_http_200_for_a_legacy_client(legacy, method):
    assert seen(legacy.send(method)) == error(200, -32601, UNKNOWN_METHOD, id=1, word="not_found")


@pytest.mark.requirement("mcp.supported")
@pytest.mark.parametrize("method", [*METHODS, "initialize", "ping"])
def test_an_unknown_method_is_http_404_for_a_modern_client(agent, connection, method):
    assert seen(agent.send(method)) == error(404, -32601, UNKNOWN_METHOD, id=1, word="not_found")
    assert audit_of(connection) == [("mcp.message", "not_found", "mcp")]


# tests/hostile/test_json.py has more: the same function reads every body.
UNREADABLE = {
    "empty": b"",
    "cut off": b'{"jsonrpc": "2.0"',
    "not UTF-8": b'{"jsonrpc": "2.0", "method": "\xff"}',
    "a repeated key": b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}',
    "two messages": b'{"jsonrpc": "2.0", "method": "a"}{"jsonrpc": "2.0", "method": "b"}',
}


@pytest.mark.parametrize("reason", UNREADABLE)
def test_unreadable_json_is_a_parse_error_without_an_id(agent, connection, reason):
    answer = agent.post(UNREADABLE[reason], CONTENT_TYPE="application/json")

    message = answer.body["error"]["message"]
    expected = error(400, -32700, message, fields=[], problems=[])
    assert seen(answer) == expected
    assert audit_of(connection) == [REFUSED]
