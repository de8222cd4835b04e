"""Sends calls, and holds each answer to what all answers have in common."""

from io import BytesIO
from typing import Any

from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse

from tests.agents import Answer
from tests.fuzzing.effort import tally
from tests.fuzzing.mutations import Call
from tests.hostile.target import CODES, call_application
from tests.snapshots import take_snapshot

MCP_STATUSES = {200, 202, 400, 401, 403, 404, 405, 413, 415}
JSON_RPC_CODES = {-32700, -32600, -32601, -32602, -32020, -32022}


class Sender:
    """Sends calls, and looks at the tables after each that was refused."""

    def __init__(self, credential: str, *, name: str = "bytes") -> None:
        self.credential = credential
        self.name = name
        self.before: Any = None

    def send(self, call: Call) -> Answer:
        tally[self.name] += 1
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
