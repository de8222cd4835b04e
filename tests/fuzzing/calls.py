"""A valid call of every endpoint, to be spoilt."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from tests.agents import HttpAgent
from tests.fuzzing.mutations import FORM, JSON, Call
from tests.mcp_agent import KEY, LEGACY, MODERN, PATH, McpAgent, read_query
from tests.oauth.programs import RESOURCE, RETURN_ADDRESS, VERIFIER, Program
from tests.tool_table import TABLE, WRITING

Arguments = Mapping[str, Any]

NEVER_GIVEN = "ivr_" + "r" * 43
WELL_KNOWN = (
    "oauth-protected-resource/mcp",
    "oauth-protected-resource",
    "oauth-authorization-server",
)


def calls_of_tools(agent: HttpAgent, arguments: Mapping[str, Arguments]) -> list[Call]:
    """Return a call of each HTTP tool; the arguments of a GET are its query."""
    return [_call_tool(agent, tool, arguments.get(tool, {})) for tool in TABLE]


def _call_tool(agent: HttpAgent, tool: str, arguments: Arguments) -> Call:
    method, path = TABLE[tool].route
    sent = dict(arguments)
    path = path.replace("{id}", str(sent.pop("id", "")))
    bearer = {"Authorization": f"Bearer {agent.credential}"}
    if method == "GET":
        return Call(method, path, query=urlencode(sent), headers=bearer)
    headers = bearer | {"Content-Type": JSON, "Idempotency-Key": f"http-{tool.replace('.', '-')}"}
    return Call(method, path, json.dumps(sent).encode(), headers=headers)


def calls_of_mcp(agent: HttpAgent, arguments: Mapping[str, Arguments]) -> list[Call]:
    """Return a message of each kind, in a legacy revision and in the modern one."""
    return [
        _call_method(McpAgent(agent.credential, version=version), method, params)
        for version in (LEGACY[-1], MODERN)
        for method, params in (*_params_of_tools(arguments, version), *_params_of_methods())
    ]


def _params_of_tools(
    arguments: Mapping[str, Arguments], version: str
) -> list[tuple[str, Arguments]]:
    keys = {tool: {KEY: f"mcp-{version}-{tool.replace('.', '-')}"} for tool in WRITING}
    return [
        (
            "tools/call",
            {
                "name": tool.replace(".", "_"),
                "arguments": {**read_query(arguments.get(tool, {})), **keys.get(tool, {})},
            },
        )
        for tool in TABLE
        if tool != "tools.list"
    ]


def _params_of_methods() -> list[tuple[str, Arguments]]:
    client = {"name": "fuzzer", "version": "1"}
    initialize = {"protocolVersion": LEGACY[-1], "capabilities": {}, "clientInfo": client}
    bare = ("ping", "tools/list", "server/discover", "notifications/initialized")
    return [("initialize", initialize), *((method, {}) for method in bare)]


def _call_method(speaker: McpAgent, method: str, params: Arguments) -> Call:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method}
    message["params"] = speaker.with_meta(params)
    if method.startswith("notifications/"):
        del message["id"]
    headers = {
        **speaker.headers_of(message),
        "Authorization": f"Bearer {speaker.credential}",
        "Content-Type": JSON,
    }
    return Call("POST", PATH, json.dumps(message).encode(), headers=headers)


def calls_of_sign_in(program: Program) -> list[Call]:
    """Return a call of each endpoint of browser sign-in; its code and tokens were never given."""
    registration = {
        "redirect_uris": [RETURN_ADDRESS],
        "client_name": "Fuzzer",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": "customers:read",
    }
    client = {"client_id": program.client_id, "resource": RESOURCE}
    code = {"code": "c" * 43, "redirect_uri": RETURN_ADDRESS, "code_verifier": VERIFIER}
    forms: list[tuple[str, Arguments]] = [
        ("/oauth/token", {"grant_type": "authorization_code"} | client | code),
        ("/oauth/token", {"grant_type": "refresh_token", "refresh_token": NEVER_GIVEN} | client),
        ("/oauth/revoke", {"token": NEVER_GIVEN, "client_id": program.client_id}),
    ]
    form, as_json = {"Content-Type": FORM}, {"Content-Type": JSON}
    path, _, query = program.authorize_path().partition("?")
    return [
        Call("POST", "/oauth/register", json.dumps(registration).encode(), headers=as_json),
        *(Call("POST", place, urlencode(fields).encode(), headers=form) for place, fields in forms),
        Call("GET", path, query=query),
        *(Call("GET", f"/.well-known/{each}") for each in WELL_KNOWN),
    ]
