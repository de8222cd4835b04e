"""HTTP answers of the MCP endpoint: JSON only, and a JSON-RPC error with every HTTP error."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from mcp_types.jsonrpc import PARSE_ERROR

from agent_access.calls import dump_json
from agent_access.errors import RateLimitedError, ToolError, UnreadableJsonError
from mcp_gateway.jsonrpc import ProtocolError, RequestId, error_body, result_body


def answer(
    request_id: RequestId, result: dict[str, Any], *, headers: Mapping[str, str]
) -> HttpResponse:
    return _json(result_body(request_id, result), HTTPStatus.OK, headers)


def accept() -> HttpResponse:
    """Interface: a notification "returns 202, no body"."""
    response = HttpResponse(status=HTTPStatus.ACCEPTED)
    del response["Content-Type"]
    return response


def refuse_protocol(error: ProtocolError) -> HttpResponse:
    body = error_body(error.id, code=error.code, message=error.message, data=error.data)
    return _json(body, error.status)


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
    body = error_body(request_id, code=code, message=message, data=data)
    return _json(body, status, error.headers)


def _json(
    body: dict[str, Any], status: HTTPStatus, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    return HttpResponse(
        dump_json(body), status=status, content_type="application/json", headers=headers
    )
