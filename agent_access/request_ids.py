"""One identifier per request, in the answer, the log and the audit."""

import logging
from contextvars import ContextVar

from typing_extensions import override
from uuid_utils.compat import uuid7

NO_REQUEST = "-"

_current: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)


def begin_request() -> str:
    """Give the request of this context an identifier of our own; a client's is never taken."""
    request_id = str(uuid7())
    _current.set(request_id)
    return request_id


def forget_request() -> None:
    """Let what follows belong to no request."""
    _current.set(NO_REQUEST)


def current_request_id() -> str:
    """Return the identifier, or `-` outside a request."""
    return _current.get()


class RequestIdFilter(logging.Filter):
    """Gives every log record a `request_id`, for the formatters."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id()
        return True
