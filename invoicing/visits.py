"""Who asks for a page, from where, and who tried to sign in, as the audit and the log name it."""

from enum import StrEnum
from uuid import UUID

from agent_access.audit import Origin, make_origin
from agent_access.models.audit import Transport
from agent_access.request_facts import note_outcome, note_person


def web_origin() -> Origin:
    """Return where the request for a page came from."""
    return make_origin(Transport.WEB)


class SignInOutcome(StrEnum):
    """How an attempt to sign in ended."""

    SIGNED_IN = "signed_in"
    REFUSED = "sign_in_refused"
    LIMITED = "rate_limited"


def note_visitor(person_id: UUID) -> None:
    """Name the person who has signed in."""
    note_person(person_id)


def note_attempt(outcome: SignInOutcome, person_id: UUID | None = None) -> None:
    """Name the account that was tried, if there is one; what was typed may be a password."""
    note_person(person_id)
    note_outcome(outcome)
