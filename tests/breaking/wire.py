"""One attempt at one call: over HTTP or MCP, whole or cut, and what came of it."""

import json
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple

LOCAL = "127.0.0.1"
HOST = "invoices.example"
# At first less than a stopped server stands still, so that its calls go on when nobody waits any
# more; then more and more, so that a slow machine is no endless interruption.
SHORTEST_PATIENCE_SECONDS = 2.5
LONGEST_PATIENCE_SECONDS = 30.0
MCP_VERSION = "2025-06-18"

PATHS = {
    "drafts.create": ("POST", "/api/v1/drafts"),
    "drafts.update": ("PUT", "/api/v1/drafts/{id}"),
    "documents.issue_prepare": ("POST", "/api/v1/documents/{id}/issue-approvals"),
    "documents.issue": ("POST", "/api/v1/approvals/{id}/execute"),
}
OK = "ok"
UNAVAILABLE = "unavailable"


class Cut(StrEnum):
    """Where a client closes its connection; the values are the causes that are counted."""

    NEVER = ""
    IN_BODY = "cut in the body"
    BEFORE_ANSWER = "cut before the answer"


NO_ANSWER = "no answer"
# Nothing was sent, so nothing was interrupted.
NO_CONNECTION = "no connection"


@dataclass(frozen=True, kw_only=True)
class Call:
    """A keyed write as its client means it, whichever way it is sent."""

    tool: str
    key: str
    arguments: Mapping[str, Any]
    target: str = ""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a client knows after one attempt.

    `outcome` is `ok`, an error code, or one of the causes for which nothing is known. The body is
    the one of HTTP, byte for byte, over MCP too. `retries` are those that it took to be told.
    """

    outcome: str
    body: str = ""
    request_id: str = ""
    is_replay: bool = False
    retries: int = 0

    @property
    def is_answer(self) -> bool:
        return self.outcome not in (*Cut, NO_ANSWER, NO_CONNECTION, UNAVAILABLE)

    @property
    def data(self) -> dict[str, Any]:
        """What a success tells."""
        data: dict[str, Any] = json.loads(self.body)["data"]
        return data


class Way(NamedTuple):
    """How one attempt is made; a cut connection is closed after the delay. Both in seconds."""

    over_mcp: bool
    patience: float
    cut: Cut = Cut.NEVER
    delay: float = 0


@dataclass(frozen=True)
class Line:
    """A client's way to one process, as through the proxy in front of it."""

    port: int
    credential: str
    address: str

    def send(self, call: Call, way: Way) -> Reply:
        """Send the call and wait, or close the connection where the way is cut."""
        method, path, body, headers = _mcp_request(call) if way.over_mcp else _http_request(call)
        caller = HTTPConnection(LOCAL, self.port, timeout=way.patience)
        try:
            caller.connect()
        except OSError:
            return Reply(outcome=NO_CONNECTION)
        try:
            with closing(caller):
                _begin(caller, method, path, self._headers() | headers, length=len(body))
                caller.send(body[: len(body) // 2] if way.cut == Cut.IN_BODY else body)
                if way.cut:
                    time.sleep(way.delay)
                    return Reply(outcome=way.cut)
                response = caller.getresponse()
                content = response.read().decode()
        except (OSError, HTTPException):
            return Reply(outcome=NO_ANSWER)
        return _read_mcp(response, content) if way.over_mcp else _read_http(response, content)

    def _headers(self) -> dict[str, str]:
        return {
            "Host": HOST,
            "X-Forwarded-Proto": "https",
            "X-Forwarded-For": self.address,
            "Authorization": f"Bearer {self.credential}",
            "Accept": "application/json",
            "Content-Type": "application/json",
        }


def patience_of(tries: int) -> float:
    """Return how long the attempt after so many others is waited for, in seconds."""
    return min(SHORTEST_PATIENCE_SECONDS * 1.5**tries, LONGEST_PATIENCE_SECONDS)


def _begin(
    caller: HTTPConnection, method: str, path: str, headers: Mapping[str, str], *, length: int
) -> None:
    caller.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        caller.putheader(name, value)
    caller.putheader("Content-Length", str(length))
    caller.endheaders()


def _http_request(call: Call) -> tuple[str, str, bytes, dict[str, str]]:
    method, path = PATHS[call.tool]
    body = json.dumps(call.arguments).encode()
    return method, path.replace("{id}", call.target), body, {"Idempotency-Key": call.key}


def _mcp_request(call: Call) -> tuple[str, str, bytes, dict[str, str]]:
    target = {"id": call.target} if call.target else {}
    arguments = {**target, "idempotency_key": call.key, **call.arguments}
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": call.tool.replace(".", "_"), "arguments": arguments},
    }
    return "POST", "/mcp", json.dumps(message).encode(), {"MCP-Protocol-Version": MCP_VERSION}


def _read_http(response: HTTPResponse, content: str) -> Reply:
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _reply(response, UNAVAILABLE, content)
    if response.status < HTTPStatus.BAD_REQUEST:
        return _reply(response, OK, content)
    return _reply(response, str(json.loads(content)["error"]["code"]), content)


def _read_mcp(response: HTTPResponse, content: str) -> Reply:
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _reply(response, UNAVAILABLE, content)
    answer = json.loads(content)
    if "error" in answer:
        return _reply(response, str(answer["error"]["data"]["code"]), content)
    text = str(answer["result"]["content"][0]["text"])
    if answer["result"]["isError"]:
        return _reply(response, str(json.loads(text)["error"]["code"]), text)
    return _reply(response, OK, text)


def _reply(response: HTTPResponse, outcome: str, body: str) -> Reply:
    return Reply(
        outcome=outcome,
        body=body,
        request_id=response.headers["X-Request-Id"] or "",
        is_replay="Idempotent-Replayed" in response.headers,
    )
