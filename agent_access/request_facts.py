"""What is known of the current request so far, for logs and metrics."""

from contextvars import ContextVar
from typing import NamedTuple
from uuid import UUID


class RequestFacts(NamedTuple):
    """The facts of a request; one that is unknown, or does not apply, is empty.

    `person_id` is who has signed in to the pages, or whose account somebody tried to sign in to.
    `outcome` is the audit's: `ok` or an error code of a tool's call, or the outcome of the attempt
    to sign in.
    """

    transport: str = ""
    client_address: str = ""
    connection_id: UUID | None = None
    person_id: UUID | None = None
    tool: str = ""
    outcome: str = ""


UNKNOWN = RequestFacts()

_current: ContextVar[RequestFacts] = ContextVar("request_facts", default=UNKNOWN)


def current_facts() -> RequestFacts:
    return _current.get()


def forget_facts() -> None:
    """Start afresh, at the beginning and at the end of a request."""
    _current.set(UNKNOWN)


def note_client(address: str) -> None:
    _current.set(_current.get()._replace(client_address=address))


def note_transport(transport: str) -> None:
    _current.set(_current.get()._replace(transport=transport))


def note_connection(connection_id: UUID) -> None:
    _current.set(_current.get()._replace(connection_id=connection_id))


def note_person(person_id: UUID | None) -> None:
    _current.set(_current.get()._replace(person_id=person_id))


def note_outcome(outcome: str) -> None:
    _current.set(_current.get()._replace(outcome=outcome))


def note_call(tool: str, *, outcome: str) -> None:
    _current.set(_current.get()._replace(tool=tool, outcome=outcome))
