"""Two addresses for probes, before the gate: is the process alive, and can it serve."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

LIVE_PATH = "/healthz"
READY_PATH = "/readyz"
METHODS = ("GET", "HEAD")
ALLOW = ("Allow", ", ".join(METHODS))


class HealthApplication:
    """Answers the probes itself and leaves every other path to the application.

    A probe calls by any host name and without TLS, so it gets one word and nothing else. It is in
    no limit, log or metric.
    """

    def __init__(self, application: WSGIApplication, *, is_ready: Callable[[], bool]) -> None:
        self._application = application
        self._probes = {LIVE_PATH: lambda: True, READY_PATH: is_ready}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        probe = self._probes.get(environ.get("PATH_INFO", ""))
        if probe is None:
            return self._application(environ, start_response)
        method = environ["REQUEST_METHOD"]
        if method not in METHODS:
            word = answer_word(start_response, HTTPStatus.METHOD_NOT_ALLOWED, b"use GET", ALLOW)
        elif probe():
            word = answer_word(start_response, HTTPStatus.OK, b"ok")
        else:
            word = answer_word(start_response, HTTPStatus.SERVICE_UNAVAILABLE, b"unavailable")
        return [] if method == "HEAD" else [word]


def answer_word(
    start_response: StartResponse, status: HTTPStatus, word: bytes, *headers: tuple[str, str]
) -> bytes:
    """Start a response whose body is one word, and return the word."""
    start_response(
        f"{status.value} {status.phrase}",
        [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(word))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            *headers,
        ],
    )
    return word
