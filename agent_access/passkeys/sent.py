"""What a browser sends of a passkey, as JSON: read strictly, since anybody may have made it up."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import orjson

# More than any browser sends.
LONGEST = 20_000


class MadeUpError(Exception):
    """No browser sends this."""


def encode(data: bytes) -> str:
    """Return base64 for URLs, without padding, as WebAuthn writes all bytes."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: Any) -> bytes:
    """Return the bytes; raises MadeUpError unless `encode` returns this very text of them.

    So what is kept can be read by every decoder, and by every database.
    """
    if not isinstance(text, str) or not text.isascii():
        raise MadeUpError
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise MadeUpError from None
    if encode(data) != text:
        raise MadeUpError
    return data


def read_credential(text: str, *members: str) -> dict[str, Any]:
    """Return a credential in the form that `webauthn` parses, with these members of its response.

    Raises MadeUpError.
    """
    try:
        sent = orjson.loads(text if len(text) <= LONGEST else "")
        response = {name: sent["response"][name] for name in members}
        credential_id, attachment = sent["id"], sent.get("authenticatorAttachment")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MadeUpError from None
    for each in (credential_id, *response.values()):
        decode(each)
    return {
        "id": credential_id,
        "rawId": credential_id,
        "type": "public-key",
        "response": response,
        "authenticatorAttachment": attachment if isinstance(attachment, str) else None,
    }


def challenge_digest(client_data: str) -> str:
    """Return, in hexadecimal, which challenge a browser says it was; raises MadeUpError."""
    try:
        told = orjson.loads(decode(client_data))
        # A page that stands in a frame of another site is shown by that site.
        if told.get("crossOrigin", False) is not False or "topOrigin" in told:
            raise MadeUpError
        return decode(told["challenge"]).hex()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MadeUpError from None
