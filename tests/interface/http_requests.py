"""Calls as raw HTTP requests, which a test of HTTP itself may bend."""

import json
from typing import Any

from tests.agents import Answer, HttpAgent
from tests.interface.calls import Call
from tests.tool_table import TABLE


def send(call: Call, agent: HttpAgent, **changes: Any) -> Answer:
    """Send a call, with some of the arguments of HttpAgent.request changed."""
    return agent.request(**(request_of(call) | changes))


def request_of(call: Call) -> dict[str, Any]:
    method, path = TABLE[call.tool].route
    return {
        "method": method,
        "path": path.replace("{id}", str(call.id)),
        "headers": {} if call.key is None else {"Idempotency-Key": call.key},
        "body": b"" if method == "GET" else json.dumps(call.arguments).encode(),
        "content_type": "" if method == "GET" else "application/json",
    }
