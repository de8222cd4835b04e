"""Tells the audit and the log who asks for a page, from where, and who tried to sign in."""

from enum import StrEnum
from uuid import UUID

from agent_access.audit import Origin, make_origin
from agent_access.models.audit import Transport
from agent_access.request_facts import note


def web_origin() -> Origin:
    """Return where the current request for a page came from, for the audit."""
    return make_origin(Transport.WEB)


def mark_as_polling() -> None:
    """Say that an open page asks by itself, so that its questions do not fill the log."""
    note(is_routine=True)


class SignInOutcome(StrEnum):
    """How an attempt to sign in ended."""

    SIGNED_IN = "signed_in"
    REFUSED = "sign_in_refused"
    LIMITED = "rate_limited"
    PASSKEY_MISSING = "passkey_missing"  # the password was right, which alone is too little


def note_visitor(person_id: UUID) -> None:
    """Name the signed-in person in the log line of the request."""
    note(person_id=person_id)


def note_attempt(outcome: SignInOutcome, person_id: UUID | None = None) -> None:
    """Log the outcome and the account that was tried; the typed text may be a password."""
    note(person_id=person_id, outcome=outcome)
