"""Calls of a WSGI application as a server makes them, with nothing but what the test says."""

from typing import Any
from wsgiref.types import WSGIApplication
from wsgiref.util import setup_testing_defaults

from config.wsgi import application
from tests.agents import HOST, Answer
from tests.hostile.target import kept_connection

ADDRESS = "192.0.2.7"


def call(server: WSGIApplication, method: str, path: str, **environ: Any) -> Answer:
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        started.append((status, headers))

    asked: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path, **environ}
    setup_testing_defaults(asked)
    content = b"".join(server(asked, start_response))
    [(status, headers)] = started
    return Answer(int(status[:3]), dict(headers), content)


def send(method: str, path: str, *, credential: str | None = None, **environ: Any) -> Answer:
    """Send a request through everything that a server runs, the log of requests included."""
    sent = {"HTTP_HOST": HOST, "REMOTE_ADDR": ADDRESS, "wsgi.url_scheme": "https", **environ}
    if credential:
        sent["HTTP_AUTHORIZATION"] = f"Bearer {credential}"
    with kept_connection():
        return call(application, method, path, **sent)
