"""The methods of MCP: what each answers, from the registry of tools and by `execute`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from uuid import UUID

import orjson
from mcp_types.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from mcp_types.methods import validate_client_request
from pydantic import ValidationError

from agent_access import conf, errors, listing
from agent_access.audit import Origin
from agent_access.callers import Caller
from agent_access.calls import Arguments, CallContext, Record, ToolCall
from agent_access.execution import execute
from agent_access.fields import NOT_A_STRING, REQUIRED, TEXTS, holds_json
from agent_access.tools import NoInput, Tool, registry
from mcp_gateway.eras import INITIALIZE, LEGACY_VERSIONS, SUPPORTED_VERSIONS, Era
from mcp_gateway.jsonrpc import Message, ProtocolError
from mcp_gateway.schemas import ID, KEY, describe_tool

CAPABILITIES: dict[str, Any] = {"tools": {}}
ARGUMENTS = "arguments"
STRUCTURED = "structuredContent"
# What the params of a method must have; those of others may be left out.
PARAMS = {
    INITIALIZE: "protocolVersion, capabilities and clientInfo",
    "tools/call": "a name and, as an object, arguments",
}
NEVER_CACHED: dict[str, Any] = {"ttlMs": 0, "cacheScope": "private"}


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request with everything that answering it needs."""

    message: Message
    era: Era
    caller: Caller
    origin: Origin


@dataclass(frozen=True)
class Reply:
    """What a method answers: the result, and header fields for the HTTP answer around it.

    `structured` is `structuredContent` as JSON.
    """

    result: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    structured: bytes = b""


def answer_request(exchange: Exchange) -> Reply:
    """Return the reply, in the shape of its revision; raise ProtocolError or ToolError."""
    message, era = exchange.message, exchange.era
    method = METHODS.get((message.method, era.is_modern))
    if method is None:
        raise ProtocolError(
            METHOD_NOT_FOUND,
            "This server has only tools, and not this method.",
            error_code=errors.NotFoundError.code,
            status=era.unknown_method_status,
            id=message.id,
        )
    try:
        validate_client_request(message.method, era.version, message.params)
    except ValidationError:
        raise _invalid_params(exchange, _say_what_is_taken(message)) from None
    reply = method(exchange)
    shaped = era.shape(message.method, reply.result, server=_server_info())
    if STRUCTURED in shaped:
        shaped[STRUCTURED] = orjson.Fragment(reply.structured)
    return Reply(shaped, reply.headers)


def _say_what_is_taken(message: Message) -> str:
    if holds_json(message.params.get(ARGUMENTS)):
        return errors.OBJECT_AS_TEXT.format(name=ARGUMENTS)
    taken = PARAMS.get(message.method, "no params but _meta")
    return f"The params do not fit this method, which takes {taken}."


def _invalid_params(
    exchange: Exchange, text: str, *, error_code: str = errors.ValidationFailedError.code
) -> ProtocolError:
    is_modern = exchange.era.is_modern
    status = HTTPStatus.BAD_REQUEST if is_modern else HTTPStatus.OK
    return ProtocolError(
        INVALID_PARAMS, text, error_code=error_code, status=status, id=exchange.message.id
    )


def _server_info() -> dict[str, Any]:
    service = conf.policy().service()
    return {"name": service.name, "title": service.title, "version": service.version}


def _initialize(exchange: Exchange) -> Reply:
    asked = exchange.message.params["protocolVersion"]
    return Reply(
        {
            "protocolVersion": asked if asked in LEGACY_VERSIONS else LEGACY_VERSIONS[-1],
            "capabilities": CAPABILITIES,
            "serverInfo": _server_info(),
            "instructions": conf.policy().service().instructions,
        }
    )


def _discover(exchange: Exchange) -> Reply:
    return Reply(
        {
            "supportedVersions": list(SUPPORTED_VERSIONS),
            "capabilities": CAPABILITIES,
            "instructions": conf.policy().service().instructions,
            **NEVER_CACHED,
        }
    )


def _ping(exchange: Exchange) -> Reply:
    return Reply({})


def _list_tools(exchange: Exchange) -> Reply:
    if exchange.message.params.get("cursor") is not None:
        raise _invalid_params(exchange, "There is one page of tools and no cursor.")
    listed = execute(_call(exchange, TOOLS_LIST, {}))
    tools = orjson.loads(listed.body)["data"]
    return Reply({"tools": tools, **NEVER_CACHED})


def _describe_granted(context: CallContext, arguments: NoInput) -> Record[list[dict[str, Any]]]:
    return Record([describe_tool(tool, schema) for tool, schema in listing.granted_tools(context)])


# For grants, limits and audit the same tool as over HTTP; its entries are in MCP's form.
TOOLS_LIST = replace(listing.TOOLS_LIST, run=_describe_granted)


def _call_tool(exchange: Exchange) -> Reply:
    tool = registry.find_by_mcp_name(exchange.message.params["name"])
    if tool is None:
        text = "There is no tool of this name; tools/list has them all."
        raise _invalid_params(exchange, text, error_code=errors.NotFoundError.code)
    try:
        result = execute(_call(exchange, tool, exchange.message.params.get(ARGUMENTS) or {}))
    except (errors.UnauthenticatedError, errors.InsufficientScopeError):
        # Revoked while the call ran, or a scope to ask the owner for: HTTP errors, not results.
        raise
    except errors.ToolError as error:
        return _tool_reply(orjson.dumps(error.body()), {}, is_error=True)
    return _tool_reply(result.body, result.headers)


def _tool_reply(body: bytes, headers: Mapping[str, str], *, is_error: bool = False) -> Reply:
    """Return HTTP's body as data and, for hosts that show only text, as text."""
    text = {"type": "text", "text": body.decode()}
    return Reply({"content": [text], STRUCTURED: {}, "isError": is_error}, headers, body)


def _call(exchange: Exchange, tool: Tool, sent: dict[str, Any]) -> ToolCall:
    values = dict(sent)
    target = values.pop(ID, None) if tool.takes_target else None
    key = values.pop(KEY, None) if tool.writes else None
    problems = list(_find_target_problems(tool, target))
    return ToolCall(
        tool=tool,
        caller=exchange.caller,
        origin=exchange.origin,
        read_arguments=lambda: Arguments(values, problems),
        target=None if problems else _spell(target),
        idempotency_key=key if key is None or isinstance(key, str) else "",
        key_field=KEY,
    )


def _find_target_problems(tool: Tool, target: Any) -> list[errors.FieldProblem]:
    if not tool.takes_target or _is_id(target, tool):
        return []
    wrong = NOT_A_STRING if tool.id_type is UUID else TEXTS["int_type"]
    return [errors.FieldProblem(ID, REQUIRED if target is None else wrong)]


def _is_id(target: Any, tool: Tool) -> bool:
    """Return whether it has the type of an ID; to JSON Schema 5.0 is an integer, true is not."""
    if tool.id_type is UUID:
        return isinstance(target, str)
    is_whole = isinstance(target, float) and target.is_integer()
    return is_whole or type(target) is int


def _spell(target: Any) -> str | None:
    """Return the ID as an address over HTTP would have it."""
    return str(int(target)) if isinstance(target, int | float) else target


# By method, and by whether the revision is a modern one.
METHODS: dict[tuple[str, bool], Callable[[Exchange], Reply]] = {
    (INITIALIZE, False): _initialize,
    ("ping", False): _ping,
    ("tools/list", False): _list_tools,
    ("tools/call", False): _call_tool,
    ("server/discover", True): _discover,
    ("tools/list", True): _list_tools,
    ("tools/call", True): _call_tool,
}
