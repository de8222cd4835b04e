"""Whatever bytes arrive at whatever endpoint: no 5xx, an error of the interface, nothing stored."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse

from tests.agents import Answer, HttpAgent
from tests.api_document import API, check_documented
from tests.factories import TeamFactory, make_draft
from tests.fuzzing.calls import calls_of_mcp, calls_of_sign_in, calls_of_tools
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import Call, spoilt
from tests.hostile.target import CODES, call_application
from tests.interface.issuing import decide, prepare
from tests.oauth.programs import RETURN_ADDRESS, Program
from tests.snapshots import take_snapshot

MCP_STATUSES = {200, 202, 400, 401, 403, 404, 405, 413, 415}
JSON_RPC_CODES = {-32700, -32600, -32601, -32602, -32020, -32022}
MACHINES = ("/oauth/register", "/oauth/token", "/oauth/revoke")


@pytest.fixture
def arguments(agent, customer, delegate, draft_body) -> dict[str, dict[str, Any]]:
    """Return valid arguments of each tool, with records that they find."""
    team = TeamFactory.create(members=[delegate])
    draft, waiting, agreed = (make_draft(user=delegate, customer=customer) for _ in range(3))
    pending = prepare(agent, waiting.id, key="pending").data
    approved = prepare(agent, agreed.id, key="approved").data
    decide(approved)
    page = {"search": "acme", "limit": "2", "after": str(customer.id)}
    return {
        **dict.fromkeys(("customers.search", "documents.list", "teams.list"), page),
        "documents.get": {"id": str(draft.id)},
        "documents.preview": draft_body,
        "drafts.create": draft_body,
        "drafts.update": {"id": str(draft.id), **draft_body, "lock_version": 1},
        "documents.issue_prepare": {"id": str(waiting.id), "lock_version": 1},
        "approvals.get": {"id": pending["approval_id"]},
        "documents.issue": {"id": approved["approval_id"], "nonce": approved["nonce"]},
        "people.list": page | {"team_id": str(team.id)},
        "people.get": {"id": str(delegate.id)},
    }


@pytest.fixture
def sent(agent: HttpAgent) -> "Sender":
    return Sender(str(agent.credential))


class Sender:
    """Sends calls, and looks at the tables after each that was refused."""

    def __init__(self, credential: str) -> None:
        self.credential = credential
        self.before: Any = None

    def send(self, call: Call) -> Answer:
        tally["bytes"] += 1
        self.before = self.before or take_snapshot()
        return call_application(call.environ() | {"wsgi.input": BytesIO(call.body)})

    def expect(self, answer: Answer, *, refused: bool) -> None:
        """Hold every answer to what all have in common, and a refusal to have stored nothing."""
        assert answer.status < 500
        assert answer.headers["Cache-Control"] == "no-store"
        assert self.credential.encode() not in answer.content
        assert b"Traceback" not in answer.content
        after = take_snapshot()
        assert not refused or after == self.before
        self.before = after


def is_refused(answer: Answer) -> bool:
    return answer.status >= 400


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


def read_mcp(answer: Answer) -> bool:
    """Hold an answer to JSON-RPC; return whether it is a refusal."""
    assert answer.status in MCP_STATUSES
    if answer.status == 202:
        assert answer.content == b""
        return True
    assert answer.headers["Content-Type"] == "application/json"
    if "error" not in answer.body:
        assert answer.status == 200
        JSONRPCResponse.model_validate(answer.body, extra="forbid")
        return bool(answer.body["result"].get("isError"))
    JSONRPCError.model_validate(answer.body, extra="forbid")
    error = answer.body["error"]
    assert error["code"] in {*JSON_RPC_CODES, answer.status}
    assert error["data"]["code"] in CODES.values()
    return True


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
