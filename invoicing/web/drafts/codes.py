"""The code that the form of a new draft carries, so that sending it twice makes one draft."""

from django.core.signing import BadSignature, Signer

from invoicing.identifiers import new_draft_code
from invoicing.models import User


def give_code(user: User) -> str:
    """Return the code of a draft that the person is about to write, for the form to send back."""
    return _signer(user).sign(new_draft_code())


def read_code(user: User, sent: str) -> str | None:
    """Return the code in what a form sent, or None if it was not given to this person."""
    try:
        return _signer(user).unsign(sent)
    except BadSignature:
        return None


def _signer(user: User) -> Signer:
    # Signed, since people read these codes: nobody shall choose one.
    return Signer(salt=f"draft code for {user.pk}")
