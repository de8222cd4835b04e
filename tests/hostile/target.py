"""The tools that take a body, aimed at through WSGI itself, as a server calls it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from uuid import UUID

from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from config.wsgi import application
from tests.agents import HOST, Answer, HttpAgent
from tests.interface.refusals import STATUSES
from tests.tool_table import TABLE

CODES = {400: "bad_request"} | {
    status: code for code, status in STATUSES.items() if not code.startswith("approval_")
}

# What a server tells of itself and of a caller, the same in every request.
WSGI_ENVIRON = {
    "SERVER_NAME": "server.internal",
    "SERVER_PORT": "8443",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "REMOTE_ADDR": "127.0.0.1",
    "wsgi.url_scheme": "https",
}


@dataclass(frozen=True)
class Target:
    """What a hostile client may try with one valid credential."""

    agent: HttpAgent
    draft_id: UUID
    draft_body: Mapping[str, Any]

    def body_for(self, tool: str, **changes: Any) -> dict[str, Any]:
        """Return a valid body of the tool, with some fields changed."""
        version = {"lock_version": 1} if tool == "drafts.update" else {}
        return {**self.draft_body, **version, **changes}

    def send(self, tool: str, body: bytes, **environ: Any) -> Answer:
        """Send raw bytes to a body tool."""
        method, path = TABLE[tool].route
        environ = {"HTTP_IDEMPOTENCY_KEY": "one"} | environ
        return self.request(method, path.replace("{id}", str(self.draft_id)), body, **environ)

    def send_json(self, tool: str, value: object, **environ: Any) -> Answer:
        return self.send(tool, json.dumps(value).encode(), **environ)

    def request(self, method: str, path: str, body: bytes = b"", **environ: Any) -> Answer:
        """Call the WSGI application; a key of `environ` that is None is left out."""
        wanted = {
            **WSGI_ENVIRON,
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_HOST": HOST,
            "HTTP_AUTHORIZATION": f"Bearer {self.agent.credential}",
            "wsgi.input": BytesIO(body),
        } | environ
        return call_application({key: value for key, value in wanted.items() if value is not None})


def call_application(environ: dict[str, Any]) -> Answer:
    """Call the application as a server does, within the test's own transaction."""
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(*answer: Any) -> Callable[[bytes], object]:
        started.append(answer[:2])
        return lambda _part: None

    with kept_connection():
        response = application(environ, start_response)
        content = b"".join(response)
        getattr(response, "close", lambda: None)()  # as a server does
    [(status, headers)] = started
    return Answer(int(status[:3]), dict(headers), content)


@contextmanager
def kept_connection() -> Iterator[None]:
    """Keep the database connection open between requests, as Django's own test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def assert_refused(answer: Answer, status: int, fields: Sequence[str] | None = None) -> None:
    """The answer is the interface's error, whole and small, and shows nothing of the inside."""
    assert answer.status == status, answer.content[:500]
    assert answer.code == CODES[status]
    assert set(answer.error) <= {"code", "message", "fields", "problems"}
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert len(answer.content) < 200_000
    assert b"Traceback" not in answer.content
    if fields is not None:
        assert answer.error["fields"] == list(fields)
