"""JSON-RPC 2.0: one request or notification in, one answer out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from mcp_types.jsonrpc import INVALID_REQUEST, JSONRPC_VERSION

from agent_access.errors import ValidationFailedError

RequestId = str | int | None

# What the JSON library writes: signed integers of 64 bits, and unsigned ones.
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1


@dataclass(frozen=True)
class Message:
    """A request, or a notification, which has no `id` and gets no answer."""

    method: str
    params: dict[str, Any] = field(default_factory=dict)
    id: RequestId = None

    @property
    def is_notification(self) -> bool:
        return self.id is None


class ProtocolError(Exception):
    """A message that the protocol refuses: a JSON-RPC error, with its HTTP status.

    `code` is JSON-RPC's. `error_code` is the interface's `error.code`, which is sent as `data.code`
    with the rest of `data`. `message` is a fixed sentence.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        error_code: str = ValidationFailedError.code,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        data: Mapping[str, Any] | None = None,
        id: RequestId = None,  # noqa: A002  JSON-RPC's word
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.error_code = error_code
        self.status = status
        self.data = {"code": error_code, **(data or {})}
        self.id = id


def read_message(value: Any) -> Message:
    """Return the one request or notification; raise ProtocolError for anything else.

    Interface: "One JSON-RPC request or notification per call; arrays and client responses fail".
    """
    members = value if isinstance(value, dict) else {}
    request_id = _read_id(members)
    method, params = members.get("method"), members.get("params", {})
    if members.get("jsonrpc") != JSONRPC_VERSION or not isinstance(method, str):
        raise _invalid_request(request_id)
    if not isinstance(params, dict) or ("id" in members and request_id is None):
        raise _invalid_request(request_id)
    return Message(method, params, request_id)


def _read_id(members: dict[str, Any]) -> RequestId:
    """Return the ID if it is one that can be sent back: Unicode text or an integer of 64 bits."""
    found = members.get("id")
    if isinstance(found, str):
        return found if _is_unicode(found) else None
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if MIN_INTEGER <= found <= MAX_INTEGER else None


def _is_unicode(text: str) -> bool:
    """Return whether the text has no lone surrogate, which JSON may spell and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _invalid_request(request_id: RequestId) -> ProtocolError:
    text = "Send one JSON-RPC 2.0 request or notification, with an object as params."
    return ProtocolError(INVALID_REQUEST, text, id=request_id)
