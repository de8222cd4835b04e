"""A server that can be killed at any statement of a request; only tests know of it.

A process that has Django loaded forks the one that serves, and forks another when that one died.
The request names the moment of its death in a header.
"""

import os
import signal
import socket
import sys
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.urls import get_resolver
from typing_extensions import override

# After so many statements of the request; 0 is before the first. ANSWERED is after the commit,
# with the answer still unsent.
MOMENT = "HTTP_X_TEST_KILL_AFTER"
ANSWERED = "answered"
# What the counter says of a request that lived.
STATEMENTS = "X-Test-Statements"


class StatementCounter:
    """Counts the statements of a request, and dies after the one that it is told."""

    def __init__(self, moment: str) -> None:
        self.moment = moment
        self.count = 0

    def __call__(self, run: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        self.die_at(str(self.count))
        result = run(sql, params, many, context)
        self.count += 1
        self.die_at(str(self.count))
        return result

    def die_at(self, moment: str) -> None:
        if moment == self.moment:
            os.kill(os.getpid(), signal.SIGKILL)


def make_killable(application: Any) -> Any:
    def killable(environ: Any, start_response: Any) -> Any:
        counter = StatementCounter(environ.get(MOMENT, ""))

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start_response(status, [*headers, (STATEMENTS, str(counter.count))], *rest)

        with connection.execute_wrapper(counter):
            answer = application(environ, start)
        counter.die_at(ANSWERED)
        return answer

    return killable


class QuietHandler(WSGIRequestHandler):
    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the test reads the answers."""


def serve(listening: socket.socket, application: Any) -> None:
    server = WSGIServer(listening.getsockname(), QuietHandler, bind_and_activate=False)
    server.socket = listening
    server.server_name, server.server_port = listening.getsockname()
    server.setup_environ()
    server.set_app(application)
    server.serve_forever()


def serve_for_ever(listening: socket.socket) -> None:
    """Fork servers one after the other, so that each begins as a fresh process does."""
    application = make_killable(get_wsgi_application())
    assert get_resolver().url_patterns  # loads the views once, for every server to come
    print("ready", flush=True)  # noqa: T201  the test waits for it
    while True:
        child = os.fork()
        if child == 0:
            serve(listening, application)
        os.waitpid(child, 0)


if __name__ == "__main__":
    serve_for_ever(socket.socket(fileno=int(sys.argv[1])))
