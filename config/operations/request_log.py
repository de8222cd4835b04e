"""One log line, one count and one span for every request that reached the application.

What an open page asks by itself is logged for debugging only, unless it is refused.
"""

import logging
import re
import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from agent_access.request_facts import current_facts, forget_request
from config.operations.health import answer_word
from config.operations.log_lines import FACTS
from config.operations.metrics import count_request
from config.operations.spans import request_span

logger = logging.getLogger(__name__)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
# The parts of a path that may be logged: IDs, words, file names. A credential does not match.
SEGMENT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9._-]{1,20}|[a-z-]{1,32}")
PLACEHOLDER = "*"
MAX_SEGMENTS = 20


class RequestLog:
    """Runs the application, and tells the log and the metrics how the request ended."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # Not in a copied context: Django keeps the connection to the cache in the thread's own.
        try:
            return self._serve(environ, start_response)
        finally:
            # Nothing that the thread logs or serves next belongs to this request.
            forget_request()

    def _serve(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        statuses: list[int] = []

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            statuses.append(int(status.partition(" ")[0]))
            return start_response(status, headers, *rest)

        begun = time.perf_counter()
        with request_span(environ) as describe:
            try:
                answer = self._application(environ, start)
            except Exception:
                # The server would write the trace as it is, secrets included.
                logger.exception("The application failed.")
                answer = [answer_word(start, HTTPStatus.INTERNAL_SERVER_ERROR, b"unavailable")]
            told = _record(environ, status=statuses[-1], seconds=time.perf_counter() - begun)
            describe(told["method"], told["path"], told["status"])
        return answer


def _record(environ: WSGIEnvironment, *, status: int, seconds: float) -> dict[str, Any]:
    """Count and log a request; return the facts that its line has."""
    facts = current_facts()
    try:
        count_request(facts, status=status, seconds=seconds)
    except Exception:
        # The folder that processes share may be gone. The answer is made, and must be given.
        logger.exception("A request could not be counted.")
    method = environ["REQUEST_METHOD"]
    told = {
        "method": method if method in METHODS else PLACEHOLDER,
        "path": redact_path(environ.get("PATH_INFO", "")),
        "status": status,
        "duration_ms": round(seconds * 1000, 1),
        "tool": facts.tool,
        "outcome": facts.outcome,
        "client_address": facts.client_address,
        "person_id": str(facts.person_id or ""),
    }
    units = {"duration_ms": f"{told['duration_ms']} ms"}
    text = " ".join(str(value) for value in (told | units).values() if value)
    is_quiet = facts.is_routine and status < HTTPStatus.BAD_REQUEST
    logger.log(logging.DEBUG if is_quiet else logging.INFO, "%s", text, extra={FACTS: told})
    return told


def redact_path(path: str) -> str:
    """Return the path with a placeholder for every part that might be a secret."""
    parts = path.split("/")
    known = [part if SEGMENT.fullmatch(part) or not part else PLACEHOLDER for part in parts]
    return "/".join(known[:MAX_SEGMENTS])
