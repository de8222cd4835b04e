"""Why a change of passkeys is refused, for the person and for the audit."""

from enum import StrEnum

from django.utils.translation import gettext_noop

from agent_access.passkeys.models import NAME_LENGTH
from agent_access.translations import SentenceError
from agent_access.visible_text import INVISIBLE

__all__ = ["NameInvalidError", "PasskeyRefusedError", "Reason"]


class Reason(StrEnum):
    """Why a change was refused, as the audit keeps it."""

    SIGNED_OUT = "signed_out"
    ASSERTION = "assertion"
    REGISTRATION = "registration"
    KNOWN = "known_already"
    LINK = "link"
    GONE = "no_such_passkey"
    LAST = "last_one"
    NOT_APART = "not_apart"
    NOT_ALLOWED = "not_allowed"


SENTENCES = {
    Reason.SIGNED_OUT: gettext_noop("You were signed out meanwhile. Nothing was changed."),
    Reason.ASSERTION: gettext_noop(
        "Nothing was changed: it was not confirmed with one of your passkeys, or too late. Please"
        " try again."
    ),
    Reason.REGISTRATION: gettext_noop(
        "The new passkey could not be read, or it came too late. Please try again."
    ),
    Reason.KNOWN: gettext_noop("This passkey was added before."),
    Reason.LINK: gettext_noop(
        "This link is not valid. Links work once and for a short time: ask for another one."
    ),
    Reason.GONE: gettext_noop("This passkey was removed before."),
    Reason.LAST: gettext_noop(
        "You need a passkey to sign in, so your last one stays. Add another one first."
    ),
    Reason.NOT_APART: gettext_noop(
        "Only a passkey of a device that no agent can use adds another such one, in a session that"
        " you began with it there. If you have none any more, you need a link."
    ),
    Reason.NOT_ALLOWED: gettext_noop("You may not give that person a link."),
}
# The length is NAME_LENGTH.
INVALID_NAME = gettext_noop(
    "A passkey needs a name of 1 to 100 characters, without line breaks or invisible characters."
)


class PasskeyRefusedError(SentenceError):
    """A change that was refused, and changed nothing; the message is a sentence for the person."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(SENTENCES[reason])
        self.reason = reason


class NameInvalidError(SentenceError):
    """A name that is none; the message is a sentence for the person."""

    def __init__(self) -> None:
        super().__init__(INVALID_NAME)


def clean_name(text: str) -> str:
    """Return the name of a passkey; raises NameInvalidError."""
    name = text.strip()
    if not 0 < len(name) <= NAME_LENGTH or not name.isprintable() or INVISIBLE.search(name):
        raise NameInvalidError
    return name
