"""HTTP answers of the MCP endpoint: JSON only, and a JSON-RPC error with every HTTP error."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from mcp_types.jsonrpc import JSONRPC_VERSION, PARSE_ERROR

from agent_access.calls import dump_json
from agent_access.errors import RateLimitedError, ToolError, UnreadableJsonError
from mcp_gateway.jsonrpc import ProtocolError, RequestId


def answer(
    request_id: RequestId, result: dict[str, Any], *, headers: Mapping[str, str]
) -> HttpResponse:
    return _json(request_id, HTTPStatus.OK, headers, result=result)


def accept() -> HttpResponse:
    """Interface: a notification "returns 202, no body"."""
    response = HttpResponse(status=HTTPStatus.ACCEPTED)
    del response["Content-Type"]
    return response


def refuse_protocol(error: ProtocolError) -> HttpResponse:
    told = {"code": error.code, "message": error.message, "data": error.data}
    return _json(error.id, error.status, error=told)


def refuse(error: ToolError, *, request_id: RequestId = None, **more: str) -> HttpResponse:
    """Return a refusal before any tool: an HTTP error with a JSON-RPC error.

    The JSON-RPC code is the HTTP status, or -32700 for an unreadable body; the interface's
    `error.code` is in `data.code`, beside what there is `more` to tell.
    """
    is_unreadable = isinstance(error, UnreadableJsonError)
    status = HTTPStatus.BAD_REQUEST if is_unreadable else error.status
    code = PARSE_ERROR if is_unreadable else int(error.status)
    data = error.body()["error"] | more
    message = data.pop("message")
    if isinstance(error, RateLimitedError):
        # Many clients do not show header fields to their model.
        data["retry_after"] = error.retry_after
    told = {"code": code, "message": message, "data": data}
    return _json(request_id, status, error.headers, error=told)


def _json(
    request_id: RequestId,
    status: HTTPStatus,
    headers: Mapping[str, str] | None = None,
    **outcome: dict[str, Any],
) -> HttpResponse:
    body = dump_json({"jsonrpc": JSONRPC_VERSION, "id": request_id, **outcome})
    return HttpResponse(body, status=status, content_type="application/json", headers=headers)
