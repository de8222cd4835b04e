"""The agent of tests.agents over MCP; it translates answers into those of HTTP."""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from itertools import count
from typing import Any
from uuid import UUID

from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse
from mcp_types.methods import serialize_server_result
from typing_extensions import override

from tests.agents import Answer, HttpAgent
from tests.api_document import check_body
from tests.tool_table import TABLE

PATH = "/mcp"
INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
LEGACY = ("2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"

KEY = "idempotency_key"

# The HTTP statuses of refusals, which a tool result does not carry.
FAILURES = {
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "approval_pending": 409,
    "approval_rejected": 409,
    "approval_stale": 409,
    "approval_used": 409,
    "approval_expired": 410,
    "validation_failed": 422,
    "unavailable": 503,
}


class McpAgent(HttpAgent):
    """Calls the tools over MCP in one revision; each answer must match the official schema."""

    def __init__(self, credential: str | None, *, version: str = MODERN) -> None:
        super().__init__(credential)
        self.version = version
        self._ids = count(1)

    @override
    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        id: UUID | str | None = None,
        key: str | None = None,
    ) -> Answer:
        """Call a tool by its dotted name; return what HTTP would have answered.

        GET /api/v1/tools goes over HTTP, since tools/list answers something else.
        """
        if tool == "tools.list":
            return super().call(tool, arguments)
        method, path = TABLE[tool].route
        sent = dict(arguments or {}) if method != "GET" else read_query(arguments or {})
        if "{id}" in path:
            sent = {"id": str(id), **sent}
        if key is not None and TABLE[tool].writes:
            sent[KEY] = key
        params = {"name": tool.replace(".", "_"), "arguments": sent}
        answer = read_answer(self.send("tools/call", params), tool)
        if answer.status in (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED):
            check_body(method, path, answer)
        return answer

    def send(self, method: str, params: Mapping[str, Any] | None = None, **request: Any) -> Answer:
        """Send one JSON-RPC request of the agent's revision; `request` goes to `post`."""
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        members = self.with_meta(params or {})
        return self.post(message | ({"params": members} if members else {}), **request)

    def with_meta(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the params with the _meta that a modern revision requires in every request."""
        if self.version in LEGACY:
            return dict(params)
        meta = {
            "io.modelcontextprotocol/protocolVersion": self.version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        return {**params, "_meta": meta}

    def post(
        self, message: Any, *, headers: Mapping[str, str | None] | None = None, **request: Any
    ) -> Answer:
        """Post any message with the header fields of its revision; a header of None is left out."""
        sent = self.headers_of(message) | dict(headers or {})
        answer = self.request(
            "POST",
            PATH,
            body=message if isinstance(message, bytes) else json.dumps(message).encode(),
            headers={name: value for name, value in sent.items() if value is not None},
            **request,
        )
        check_answer(message, answer, version=self.version)
        return answer

    def headers_of(self, message: Any) -> dict[str, str | None]:
        fields: dict[str, str | None] = {"MCP-Protocol-Version": self.version}
        if self.version in LEGACY or not isinstance(message, dict):
            return fields
        if isinstance(method := message.get("method"), str):
            fields["Mcp-Method"] = method
        params = message.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        return fields | ({"Mcp-Name": name} if isinstance(name, str) else {})


def check_answer(message: Any, answer: Answer, *, version: str) -> None:
    """Assert that an answer is valid JSON-RPC and exactly fits its revision's schema."""
    if answer.status == 202:
        assert answer.content == b""
        assert "Content-Type" not in answer.headers
        return
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    if "error" in answer.body:
        JSONRPCError.model_validate(answer.body, extra="forbid")
        return
    assert answer.status == 200
    JSONRPCResponse.model_validate(answer.body, extra="forbid")
    assert answer.body["id"] == message["id"]
    result = answer.body["result"]
    assert serialize_server_result(message["method"], version, result) == result


def read_query(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query's arguments for MCP: there, `limit` is a number instead of a text."""
    return {
        name: int(value) if name == "limit" and INTEGER.fullmatch(str(value)) else value
        for name, value in arguments.items()
    }


def read_answer(answer: Answer, tool: str) -> Answer:
    """Return an answer of MCP as HTTP would have given it."""
    if "error" in answer.body:
        error = answer.body["error"]
        error = {"code": error["data"]["code"], "message": error["message"], **error["data"]}
        return Answer(answer.status, answer.headers, json.dumps({"error": error}).encode())
    result = answer.body["result"]
    (content,) = result["content"]
    assert content["type"] == "text"
    assert json.loads(content["text"]) == result["structuredContent"]
    if not result["isError"]:
        return Answer(TABLE[tool].status, answer.headers, content["text"].encode())
    status = FAILURES[result["structuredContent"]["error"]["code"]]
    # The only field with another name in HTTP.
    text = content["text"].replace(f'"{KEY}"', '"Idempotency-Key"')
    return Answer(status, answer.headers, text.encode())
