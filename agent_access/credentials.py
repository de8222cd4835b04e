"""Pasted credentials: made from the operating system's randomness, shown once, kept as a digest."""

import hashlib
import re
import secrets

PREFIX = "ivc_"
CREDENTIAL = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


def make_credential() -> str:
    """Return a new credential with 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_credential(credential: str) -> str:
    """Return the SHA-256 in hexadecimal; with 256 random bits no salt or stretching is needed."""
    return hashlib.sha256(credential.encode()).hexdigest()
