"""What becomes known of the request in hand, for whoever logs and counts requests."""

from contextvars import ContextVar
from typing import NamedTuple
from uuid import UUID


class RequestFacts(NamedTuple):
    """Names, identifiers and the client's address; what is not known, or not so, is empty.

    `person_id` is who has signed in to the pages, or whose account was tried. `outcome` is the
    audit's word for how the tool's call ended: `ok` or an error code, or how an attempt to sign in
    did.
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
    """Know nothing: a request begins, or is over."""
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
