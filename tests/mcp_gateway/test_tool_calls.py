"""tools/call: the data of HTTP on success, a tool failure on refusal, one receipt over both."""

import json
from typing import Any
from uuid import uuid4

import pytest

from agent_access.connections import revoke_connection
from agent_access.errors import KEY_USED, UnauthenticatedError
from agent_access.execution import execute
from agent_access.models import Receipt
from agent_access.models.connections import RevokedReason
from agent_access.tools import registry
from tests.interface.refusals import nothing_changes
from tests.mcp_gateway.answers import UNKNOWN_TOOL, WRONG_PARAMS, audit_of, error, refusal, seen
from tests.tool_table import REQUIRED_OF_A_DRAFT

pytestmark = pytest.mark.sqlite  # MCP does not depend on the database


def call(agent, name, **arguments: Any):
    return agent.send("tools/call", {"name": name, "arguments": arguments})


def failure(answer):
    """Return the error of a tool failure, which HTTP must call a success."""
    result = answer.body["result"]
    assert (answer.status, result["isError"]) == (200, True)
    return result["structuredContent"]["error"]


@pytest.mark.requirement("mcp.success", "service.both_transports")
def test_a_success_holds_the_data_of_http_as_structure_and_as_text(speaker, http, customer):
    result = call(speaker, "customers_search", search="acme").body["result"]
    over_http = http.call("customers.search", {"search": "acme"})
    assert result["structuredContent"] == over_http.body
    assert result["content"] == [{"type": "text", "text": over_http.content.decode()}]
    assert result["isError"] is False


@pytest.mark.requirement("mcp.tool_failure")
def test_a_failure_is_a_result_with_the_error_of_http(speaker, http):
    missing = str(uuid4())
    result = call(speaker, "documents_get", id=missing).body["result"]
    assert result["isError"] is True
    assert result["structuredContent"] == http.call("documents.get", id=missing).body
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.requirement("mcp.tool_names")
@pytest.mark.parametrize("name", ["customers.search", "tools_list", "Customers_Search", "", "é"])
def test_an_unknown_tool_is_a_protocol_error(agent, legacy, connection, name):
    headers = {"Mcp-Name": "=?base64?w6k=?="} if name == "é" else {}
    for speaker, status in ((agent, 400), (legacy, 200)):
        answer = speaker.send("tools/call", {"name": name}, headers=headers)
        assert seen(answer) == error(status, -32602, UNKNOWN_TOOL, id=1, word="not_found")
    assert audit_of(connection) == [("mcp.message", "not_found", "mcp")] * 2


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 5},
        {"name": None},
        {"name": "teams_list", "arguments": []},
        {"name": "teams_list", "arguments": "limit"},
    ],
)
def test_params_that_are_no_call_are_a_protocol_error(legacy, params):
    text = WRONG_PARAMS.format(taken="a name and, as an object, arguments")
    assert seen(legacy.send("tools/call", params)) == error(200, -32602, text, id=1)


def test_arguments_sent_as_a_string_of_json_are_told_so(agent, legacy):
    params = {"name": "teams_list", "arguments": '{"limit": 5}'}
    text = "The arguments must be an object, not a string with JSON in it: send the object itself."
    for speaker, status in ((agent, 400), (legacy, 200)):
        assert seen(speaker.send("tools/call", params)) == error(status, -32602, text, id=1)


@pytest.mark.parametrize("arguments", [{}, {"arguments": {}}, {"arguments": None}])
def test_a_tool_without_required_fields_needs_no_arguments(legacy, arguments):
    answer = legacy.send("tools/call", {"name": "teams_list", **arguments})
    assert answer.body["result"]["structuredContent"] == {"data": [], "next": None}


@pytest.mark.requirement("mcp.arguments")
@pytest.mark.parametrize("name", [tool.mcp_name for tool in registry if tool.takes_target])
def test_a_record_call_without_its_id_names_it(agent, name):
    for sent, problem in (
        ({}, "is required"),
        ({"id": None}, "is required"),
        ({"id": 5}, "must be a string"),
        ({"id": {}}, "must be a string"),
    ):
        problems = failure(call(agent, name, **sent))["problems"]
        assert problems[0] == {"field": "id", "problem": problem}


@pytest.mark.requirement("mcp.arguments", "idempotency.key_argument")
@pytest.mark.parametrize("name", [tool.mcp_name for tool in registry if tool.writes])
def test_a_write_without_its_key_names_it(agent, name):
    rule = "must be a string of 1 to 80 ASCII letters, digits, underscores or hyphens"
    wrong = {None: "is required", 5: rule, "": rule, "a b": rule}
    with nothing_changes():
        for key, problem in wrong.items():
            sent: dict[str, Any] = {} if key is None else {"idempotency_key": key}
            problems = failure(call(agent, name, **sent))["problems"]
            assert {"field": "idempotency_key", "problem": problem} in problems


@pytest.mark.parametrize("field", ["id", "idempotency_key", "surprise"])
def test_a_tool_refuses_what_it_does_not_take(agent, field):
    error = failure(call(agent, "teams_list", **{field: "x"}))
    assert error["problems"] == [{"field": field, "problem": "is not a field of this tool"}]


def test_every_wrong_field_is_named_at_once(agent):
    error = failure(call(agent, "drafts_update", id=7, lock_version="1"))
    named = ["id", "idempotency_key", *REQUIRED_OF_A_DRAFT, "lock_version"]
    assert error["fields"] == named


@pytest.mark.requirement("service.same_tools")
@pytest.mark.parametrize("first", ["http", "mcp"])
def test_a_call_begun_on_one_transport_is_retried_on_the_other(agent, http, draft_body, first):
    begun, retried = (http, agent) if first == "http" else (agent, http)
    created = begun.call("drafts.create", draft_body, key="create")

    again = retried.call("drafts.create", draft_body, key="create")

    assert (again.status, again.content) == (201, created.content)
    assert "Idempotent-Replayed" not in created.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Receipt.objects.count() == 1


@pytest.mark.parametrize("first", ["http", "mcp"])
def test_a_receipt_of_a_record_call_is_the_same_over_both(agent, http, draft_body, first):
    begun, retried = (http, agent) if first == "http" else (agent, http)
    draft = agent.call("drafts.create", draft_body, key="create").data
    update = draft_body | {"lock_version": 1}
    updated = begun.call("drafts.update", update, id=draft["id"], key="update")

    again = retried.call("drafts.update", update, id=draft["id"], key="update")
    other = retried.call("drafts.update", update, id=str(uuid4()), key="update")

    assert (again.status, again.content) == (200, updated.content)
    assert (other.status, other.code) == (409, "conflict")


def test_where_id_and_key_stand_among_the_arguments_makes_no_difference(agent, draft_body):
    first = call(agent, "drafts_create", idempotency_key="k", **draft_body)
    again = call(agent, "drafts_create", **draft_body, idempotency_key="k")
    swapped = call(
        agent, "drafts_create", **dict(reversed(draft_body.items())), idempotency_key="k"
    )
    assert again.body["result"] == first.body["result"]
    expected = {"code": "conflict", "message": KEY_USED, "fields": ["idempotency_key"]}
    assert failure(swapped) == expected


def test_a_missing_grant_of_a_pasted_credential_is_a_tool_failure(connect, delegate, draft_body):
    connection, agent = connect(delegate, scopes=["people:read"])
    answer = call(agent, "drafts_create", idempotency_key="k", **draft_body)
    told = failure(answer)
    assert told["code"] == "forbidden"
    assert told["message"].startswith("This connection does not have the scope invoices:prepare")
    assert "WWW-Authenticate" not in answer.headers
    assert audit_of(connection) == [("drafts.create", "forbidden", "mcp")]


def test_a_call_is_written_down_with_its_tool_target_and_transport(agent, connection):
    agent.call("people.get", id=connection.user_id)
    agent.call("people.get", id=uuid4())
    agent.call("people.list", {"limit": 0})
    assert audit_of(connection) == [
        ("people.get", "ok", "mcp"),
        ("people.get", "not_found", "mcp"),
        ("people.list", "validation_failed", "mcp"),
    ]


def test_a_connection_that_is_revoked_while_a_call_runs_gets_no_answer(
    agent, connection, draft_body, monkeypatch
):
    def execute_after_revocation(tool_call) -> Any:
        revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
        return execute(tool_call)

    monkeypatch.setattr("mcp_gateway.protocol.execute", execute_after_revocation)

    answer = call(agent, "drafts_create", idempotency_key="k", **draft_body)

    expected = refusal(401, "unauthenticated")
    expected[1]["id"] = 1
    assert seen(answer) == expected
    assert answer.headers["WWW-Authenticate"] == UnauthenticatedError().headers["WWW-Authenticate"]
    assert Receipt.objects.count() == 0


@pytest.mark.usefixtures("as_in_production")
@pytest.mark.parametrize("write", [False, True])
def test_a_bug_is_a_tool_failure_that_can_be_retried(agent, http, monkeypatch, draft_body, write):
    name, key = ("drafts.create", "k") if write else ("teams.list", None)
    arguments = draft_body if write else {}

    with monkeypatch.context() as patch:
        patch.setitem(vars(registry.find(name)), "run", lambda *_: 1 / 0)
        answer = agent.call(name, arguments, key=key)
        over_http = http.call(name, arguments, key=key)

    assert (answer.status, answer.body) == (503, over_http.body)
    assert answer.code == "unavailable"
    assert Receipt.objects.count() == 0
    again = agent.call(name, arguments, key=key)
    assert (again.status, "Idempotent-Replayed" in again.headers) == (201 if write else 200, False)
