"""Whatever is posted, the endpoint gives a documented answer and writes nothing."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.mcp_agent import LEGACY, MODERN, McpAgent
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.usefixtures("many_calls", "nothing_written")

# What HTTP may answer to a caller who is known and within limits.
STATUSES = {200, 202, 400, 404, 413, 415}
CODES = {-32700, -32600, -32601, -32602, -32020, -32022, 413, 415}

fuzzing = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

texts = st.text(st.characters(exclude_categories=()), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
versions = st.sampled_from([*LEGACY, MODERN, "2031-01-01", "", None])
methods = st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "server/discover"])
names = st.sampled_from(["drafts_create", "documents_get", "documents_issue", "teams_list", "x"])
metas = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": versions | values,
        "io.modelcontextprotocol/clientCapabilities": st.just({}) | values,
        "progressToken": values,
    },
)
params = st.fixed_dictionaries(
    {},
    optional={
        "_meta": metas | values,
        "name": names | values,
        "arguments": st.dictionaries(
            st.sampled_from(["id", "idempotency_key", "lock_version", "limit", "line_items"])
            | texts,
            values,
            max_size=4,
        )
        | values,
        "cursor": values,
        "protocolVersion": versions | values,
        "capabilities": values,
        "clientInfo": values,
    },
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers() | texts | values,
        "method": methods | texts,
        "params": params | values,
        "result": values,
    },
)
headers = st.fixed_dictionaries(
    {
        "MCP-Protocol-Version": versions,
        "Mcp-Method": st.none() | methods,
        "Mcp-Name": st.none() | names | st.text(st.characters(codec="latin-1"), max_size=20),
    }
)


@pytest.fixture
def nothing_written(agent: McpAgent) -> Iterator[None]:
    before = take_snapshot()
    yield
    assert take_snapshot() == before


def expect_a_documented_answer(answer) -> None:
    assert answer.status in STATUSES
    if answer.status == 202:
        return
    found = answer.body.get("error")
    if found is None:
        assert answer.status == 200
        return
    assert found["code"] in CODES
    assert found["data"]["code"] in {
        "validation_failed",
        "not_found",
        "payload_too_large",
        "json_required",
    }


@fuzzing
@given(message=messages, fields=headers)
def test_any_message_gets_a_documented_answer(agent, message, fields):
    body = json.dumps(message).encode()
    sent = {name: value for name, value in fields.items() if value is not None}
    expect_a_documented_answer(agent.request("POST", "/mcp", body=body, headers=sent))


@fuzzing
@given(body=st.binary(max_size=200) | values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_get_a_documented_answer(agent, body):
    answer = agent.request("POST", "/mcp", body=body, CONTENT_TYPE="application/json")
    expect_a_documented_answer(answer)


@fuzzing
@given(arguments=st.dictionaries(texts, values, max_size=4), name=names)
def test_any_arguments_get_a_tool_failure_or_data(legacy, name, arguments):
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body = json.dumps(message).encode()
    expect_a_documented_answer(legacy.request("POST", "/mcp", body=body))
