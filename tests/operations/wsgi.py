"""Calls of a WSGI application as a server makes them, with nothing but what the test says."""

from typing import Any
from wsgiref.types import WSGIApplication
from wsgiref.util import setup_testing_defaults

from tests.agents import Answer


def call(application: WSGIApplication, method: str, path: str, **environ: Any) -> Answer:
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        started.append((status, headers))

    asked: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path, **environ}
    setup_testing_defaults(asked)
    content = b"".join(application(asked, start_response))
    [(status, headers)] = started
    return Answer(int(status[:3]), dict(headers), content)
