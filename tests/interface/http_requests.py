"""Calls as raw HTTP requests, which a test of HTTP itself may bend."""

import json
from typing import Any

from tests.agents import HTTP_TOOLS, Answer, HttpAgent
from tests.interface.tool_table import Call


def send(call: Call, agent: HttpAgent, **changes: Any) -> Answer:
    """Send a call, with some of the arguments of HttpAgent.request changed."""
    return agent.request(**(request_of(call) | changes))


def request_of(call: Call) -> dict[str, Any]:
    method, path = HTTP_TOOLS[call.tool]
    return {
        "method": method,
        "path": path.replace("{id}", str(call.id)),
        "headers": {} if call.key is None else {"Idempotency-Key": call.key},
        "body": b"" if method == "GET" else json.dumps(call.arguments).encode(),
        "content_type": "" if method == "GET" else "application/json",
    }
