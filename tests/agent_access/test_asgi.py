"""Agents are served over ASGI, by Django's own handler, as they are over WSGI."""

import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application

from agent_access.errors import NOT_HTTPS, OTHER_HOST
from tests.agents import HOST

# How requests come in is the same on both databases: once is enough. The handler answers in another
# thread, with a connection of its own.
pytestmark = [pytest.mark.sqlite, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def send(agent):
    """Return a function that sends a request as an ASGI server would pass it on."""

    def send_request(
        method: str, path: str, *, body: Any = None, scheme: str = "https", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        named = {"host": HOST, "authorization": f"Bearer {agent.credential}"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": scheme,
            "path": path,
            "query_string": b"",
            "client": ("192.0.2.9", 4711),
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        }
        content = b"" if body is None else json.dumps(body).encode()
        return _exchange(scope, content)

    return send_request


@async_to_sync
async def _exchange(scope: dict[str, Any], content: bytes) -> tuple[int, dict[str, str], Any]:
    server = ApplicationCommunicator(get_asgi_application(), scope)
    await server.send_input({"type": "http.request", "body": content})
    start = await server.receive_output(timeout=10)
    answer = await server.receive_output(timeout=10)
    await server.wait()
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], headers, json.loads(answer["body"])


def test_an_agent_reads_and_writes(send, draft_body):
    status, headers, body = send("GET", "/api/v1/tools")
    assert (status, headers["Cache-Control"]) == (200, "no-store")
    assert body["data"]
    sent = {"content_type": "application/json", "idempotency_key": "one"}
    status, _, made = send("POST", "/api/v1/drafts", body=draft_body, **sent)
    assert status == 201
    assert send("POST", "/api/v1/drafts", body=draft_body, **sent)[2] == made


def test_over_mcp_too(send):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    status, _, body = send("POST", "/mcp", body=message, content_type="application/json")
    assert (status, bool(body["result"]["tools"])) == (200, True)


def test_a_header_does_not_decide_whether_it_came_over_https(send, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    status, _, body = send("GET", "/api/v1/tools", scheme="http", x_forwarded_proto="https")
    assert (status, body["error"]["message"]) == (403, NOT_HTTPS)


def test_the_gate_compares_the_host(send):
    status, _, body = send("GET", "/api/v1/tools", host="other.example")
    assert (status, body["error"]["message"]) == (403, OTHER_HOST)
