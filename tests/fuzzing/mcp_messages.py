"""Messages of MCP as no client should send them, and what the endpoint has to make of each."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.fuzzing.mutations import BOUNDARIES, BOUNDARY_TEXTS, JSON, ODD_TEXTS, Call, Draw
from tests.mcp_agent import LEGACY, MODERN, PATH

VERSION_META = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities"
VERSIONS = (*LEGACY, MODERN)
NO_VERSIONS = ("2024-11-05", "2031-01-01", "", "latest", "2025-06-18 ", "2025-11-25,2025-11-25")

METHODS = ("ping", "tools/list", "tools/call", "server/discover", "initialize")
ODD_METHODS = (
    *("resources/list", "prompts/get", "logging/setLevel", "completion/complete", "tasks/get"),
    *("sampling/createMessage", "roots/list", "elicitation/create", "subscriptions/listen"),
    *("rpc.discover", "tools/call ", "TOOLS/CALL", "tools//call", "../tools/list", "__init__"),
    *("notifications/cancelled", "$/cancelRequest", "\x00", "\U0001f600", "m" * 9000),
)
NOTIFICATIONS = (
    *("notifications/initialized", "notifications/cancelled", "notifications/progress"),
    *("notifications/roots/list_changed", "notifications/message", "tools/call", "x"),
)
IDS = (
    *(1, 0, -1, 2**63, 2**64 - 1, -(2**63), "a", "", "1", "\x00", "é\u2028", "x" * 5000),
    *("</script>", "__proto__"),
)
NO_IDS: tuple[Any, ...] = (
    None,
    True,
    False,
    1.5,
    1.0,
    1e300,
    [],
    [1],
    {},
    {"id": 1},
    2**64,
    -(2**63) - 1,
)

# What a client may say of the answer it wants, of sessions and of streams: none of it counts.
UNHEARD = {
    "Accept": (
        *("application/json", "text/event-stream", "application/json, text/event-stream", ""),
        *("*/*;q=0", "text/html", "application/json;q=0", "a" * 5000, "\xff", "text/event-stream,"),
    ),
    "Mcp-Session-Id": ("", "1", "a" * 5000, "../..", "\x00", "\xff", "null", "a, b"),
    "Last-Event-ID": ("", "0", "-1", "\xff", "1" * 400),
    "Accept-Encoding": ("gzip", "br;q=0", "identity;q=0, *;q=0"),
    "Mcp-Param-Region": ("eu", "=?base64?/w==?="),
    "Traceparent": ("00-" + "0" * 32 + "-" + "0" * 16 + "-01", "\xff"),
}


@dataclass(frozen=True)
class Sent:
    """A message with its headers.

    `version` is the revision that a reader of the specification finds, None if there is none.
    """

    message: Any
    version: str | None
    headers: dict[str, str] = field(default_factory=dict)

    def call(self, credential: str, **more: str) -> Call:
        known = {"Authorization": f"Bearer {credential}", "Content-Type": JSON}
        body = self.message if isinstance(self.message, bytes) else _write(self.message)
        return Call("POST", PATH, body, headers=known | self.headers | more)


def _write(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=True).encode()


def header_of(name: str) -> str:
    """Return the name of a tool as the header Mcp-Name has it."""
    if name.isascii() and name.isprintable() and name == name.strip():
        return name
    return f"=?base64?{base64.b64encode(name.encode(errors='replace')).decode()}?="


def with_envelope(message: dict[str, Any], version: str) -> Sent:
    """Return the message as an honest client of the revision sends it."""
    headers = {"MCP-Protocol-Version": version}
    if version == MODERN:
        params = message.get("params", {})
        meta = {VERSION_META: version, CAPABILITIES_META: {}}
        message = {**message, "params": {**params, "_meta": meta}}
        headers["Mcp-Method"] = message["method"]
        if isinstance(name := params.get("name"), str):
            headers["Mcp-Name"] = header_of(name)
    return Sent(message, version, headers)


@st.composite
def honest(draw: Draw, calls: list[dict[str, Any]]) -> Sent:
    """Draw a request as an honest client sends it, in any revision, with any ID."""
    version = draw(st.sampled_from(VERSIONS))
    method = draw(st.sampled_from(("tools/call", "tools/call", "tools/list", "ping")))
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": draw(st.sampled_from(IDS)), "method": method}
    if method == "tools/call":
        message["params"] = draw(st.sampled_from(calls))
    if version == MODERN and method == "ping":
        message["method"] = "server/discover"
    return with_envelope(message, version)


@st.composite
def refused(draw: Draw, calls: list[dict[str, Any]]) -> Sent:
    """Draw what must not become a call: JSON-RPC that is none, or another method."""
    sent = draw(honest(calls))
    message, headers = dict(sent.message), dict(sent.headers)
    way = draw(st.sampled_from(sorted(SPOILT)))
    return Sent(SPOILT[way](draw, message), sent.version, headers)


def _with(name: str, values: Any) -> Any:
    return lambda draw, message: {**message, name: draw(values)}


def _doubled(draw: Draw, message: dict[str, Any]) -> bytes:
    """Return the message with a member that stands twice, which readers take differently."""
    name = draw(st.sampled_from(["id", "method", "params", "jsonrpc"]))
    other = draw(st.sampled_from(["1", '"ping"', "{}", "null"]))
    return _write(message)[:-1] + f', "{name}": {other}}}'.encode()


def _nested(draw: Draw, message: dict[str, Any]) -> bytes:
    deep = draw(st.sampled_from([33, 200, 5000, 60_000]))
    return _write(message)[:-1] + b', "x": ' + b"[" * deep + b"]" * deep + b"}"


# Each is refused in every revision, whatever else the message says.
SPOILT = {
    "an array": lambda draw, message: [message] * draw(st.integers(0, 3)),
    "an array of arrays": lambda _, message: [[message], message],
    "no object": lambda draw, _: draw(st.sampled_from([None, True, 1, "ping", [], 1.5])),
    "an ID that is none": _with("id", st.sampled_from(NO_IDS)),
    "another version of JSON-RPC": _with("jsonrpc", st.sampled_from(["1.0", 2.0, "2", None, ""])),
    "no method": _with("method", st.sampled_from([None, 1, [], {}, True])),
    "params that are none": _with("params", st.sampled_from([None, [], [1], "a", 1, True])),
    "an unknown method": _with("method", st.sampled_from(ODD_METHODS)),
    "a member that stands twice": _doubled,
    "a deep nesting": _nested,
    "a response": lambda _, message: {"jsonrpc": "2.0", "id": message["id"], "result": {}},
    "broken off": lambda draw, message: _write(message)[: draw(st.integers(0, 30))],
    "two messages": lambda _, message: _write(message) + b"\n" + _write(message),
}


@st.composite
def mismatched(draw: Draw, calls: list[dict[str, Any]]) -> Sent:
    """Draw a write of the modern revision whose headers say something else than its body."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": calls[0]}
    sent = with_envelope(message, MODERN)
    name = draw(st.sampled_from(["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"]))
    others = (*VERSIONS[:-1], *NO_VERSIONS, *METHODS[:2], "drafts_update", "tools/call2", "\xff")
    other = draw(st.sampled_from((*others, "=?base64?ZHJhZnRzX2NyZWF0ZQ?=", "=?base64?/w==?=")))
    if draw(st.booleans()):
        kept = {each: value for each, value in sent.headers.items() if each != name}
        return Sent(sent.message, MODERN, kept)
    return Sent(sent.message, MODERN, {**sent.headers, name: other})


@st.composite
def notifications(draw: Draw, calls: list[dict[str, Any]]) -> Sent:
    """Draw a message without an ID, also one that would be a write if it had one."""
    params: Any = draw(
        st.sampled_from([{}, {"requestId": 1}, {"progressToken": 1, "progress": 2}, *calls])
        | st.dictionaries(ODD_TEXTS, st.sampled_from(BOUNDARIES), max_size=3)
    )
    method = draw(st.sampled_from((*NOTIFICATIONS, *METHODS)) | st.sampled_from(BOUNDARY_TEXTS))
    kept = {name: value for name, value in params.items() if name != "_meta"}
    message = {"jsonrpc": "2.0", "method": method, "params": kept}
    version = draw(st.sampled_from(VERSIONS))
    return Sent(message, version, {"MCP-Protocol-Version": version})
