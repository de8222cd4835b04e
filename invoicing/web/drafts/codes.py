"""The draft code in the form of a new draft, so that sending it twice makes one draft."""

from django.core.signing import BadSignature, Signer

from invoicing.identifiers import new_draft_code
from invoicing.models import User


def give_code(user: User) -> str:
    """Return a new draft code, signed for this person, for the form to send back."""
    return _signer(user).sign(new_draft_code())


def read_code(user: User, sent: str) -> str | None:
    """Return the draft code in what a form sent, or None if it was not signed for this person."""
    try:
        return _signer(user).unsign(sent)
    except BadSignature:
        return None


def _signer(user: User) -> Signer:
    # Signed, so that nobody can choose a code: people read them.
    return Signer(salt=f"draft code for {user.pk}")
