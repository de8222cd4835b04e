"""Under which name, and with which key, a browser keeps what is typed into a draft.

The text stays in the browser until it is saved, for a person who signs out or whose tab crashes. It
is sealed with a key that only pages of that person hold, so that nobody else who uses the browser
can read it there.
"""

import base64
from dataclasses import dataclass

from django.utils.crypto import salted_hmac

from invoicing.models import User


@dataclass(frozen=True)
class Kept:
    """The name of one draft in the browser, how those of all drafts of the person begin, the key.

    The key has 256 bits, in Base64.
    """

    owner: str
    name: str
    key: str


def kept_of(user: User, draft_code: str) -> Kept:
    """Return where a person's text of the draft with this code is kept.

    Neither name nor key can be computed by others, and both stay the same over all sessions.
    """
    owner = f"draft.{_digest('name', user).hex()[:32]}."
    key = base64.b64encode(_digest("key", user)).decode()
    return Kept(owner, f"{owner}{draft_code}", key)


def _digest(purpose: str, user: User) -> bytes:
    salt = f"invoicing.web.drafts.kept {purpose}"
    return salted_hmac(salt, str(user.pk), algorithm="sha256").digest()
