"""What is known of the current request so far, for its answer, logs, the audit and metrics."""

from contextvars import ContextVar
from typing import Any, NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

NO_REQUEST = "-"


class RequestFacts(NamedTuple):
    """The facts of a request; one that is unknown, or does not apply, is empty.

    `request_id` is `-` outside a request. `person_id` is who has signed in to the pages, or whose
    account somebody tried to sign in to. `outcome` is the audit's: `ok` or an error code of a
    tool's call, or the outcome of the attempt to sign in. `is_routine` says that an open page asked
    by itself, as it does every few seconds.
    """

    request_id: str = NO_REQUEST
    transport: str = ""
    client_address: str = ""
    connection_id: UUID | None = None
    person_id: UUID | None = None
    tool: str = ""
    outcome: str = ""
    is_routine: bool = False


UNKNOWN = RequestFacts()

_current: ContextVar[RequestFacts] = ContextVar("request_facts", default=UNKNOWN)


def current_facts() -> RequestFacts:
    return _current.get()


def begin_request(client_address: str) -> str:
    """Start afresh; return the request's new identifier, which is never the client's."""
    request_id = str(uuid7())
    _current.set(RequestFacts(request_id=request_id, client_address=client_address))
    return request_id


def forget_request() -> None:
    """Let what follows belong to no request."""
    _current.set(UNKNOWN)


def note(**known: Any) -> None:
    """Add facts, by their names in RequestFacts."""
    _current.set(_current.get()._replace(**known))
