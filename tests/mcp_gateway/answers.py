"""Answers as JSON-RPC has them, for exact comparison."""

from typing import Any

from agent_access.errors import ToolError
from agent_access.models import AuditEvent, Connection
from tests.agents import Answer
from tests.mcp_agent import LEGACY, MODERN

MESSAGES = {error.code: error.message for error in ToolError.__subclasses__()}

INVALID_MESSAGE = "Send one JSON-RPC 2.0 request or notification, with an object as params."
UNKNOWN_METHOD = "This server has only tools, and not this method."
UNKNOWN_TOOL = "There is no tool of this name; tools/list has them all."
WRONG_PARAMS = "The params do not fit this method, which takes {taken}."
UNSUPPORTED = "This revision of MCP is not supported."


def seen(answer: Answer) -> tuple[int, Any]:
    return answer.status, answer.body


def error(
    status: int,
    code: int,
    message: str,
    *,
    word: str = "validation_failed",
    id: Any = None,  # noqa: A002  JSON-RPC's word
    **data: Any,
) -> tuple[int, Any]:
    """Return the status and the whole body of an error; `data` holds more than our own word."""
    found = {"code": code, "message": message, "data": {"code": word, **data}}
    return status, {"jsonrpc": "2.0", "id": id, "error": found}


def invalid_message(id: Any = None) -> tuple[int, Any]:  # noqa: A002  JSON-RPC's word
    return error(400, -32600, INVALID_MESSAGE, id=id)


def refusal(status: int, word: str, message: str = "", **data: Any) -> tuple[int, Any]:
    """Return a refusal at the door: the HTTP status is the JSON-RPC code too."""
    return error(status, status, message or MESSAGES[word], word=word, **data)


def unsupported(requested: str, *, id: Any = None) -> tuple[int, Any]:  # noqa: A002  JSON-RPC's word
    supported = [*LEGACY, MODERN]
    return error(400, -32022, UNSUPPORTED, id=id, supported=supported, requested=requested)


def audit_of(connection: Connection) -> list[tuple[str, str, str]]:
    """Return the action, the outcome and the transport of every event of the connection."""
    events = AuditEvent.objects.filter(chain=str(connection.id)).order_by("sequence")
    return list(events.values_list("action", "outcome", "transport"))
