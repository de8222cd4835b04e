"""Credentials and tokens: made from the system's randomness, shown once, stored as a digest."""

import hashlib
import re
import secrets

PREFIX = "ivc_"
RANDOM_PART = r"[A-Za-z0-9_-]{43}"
CREDENTIAL = re.compile(PREFIX + RANDOM_PART)


def make_credential() -> str:
    """Return a new credential with 256 random bits."""
    return make_secret(PREFIX)


def make_secret(prefix: str) -> str:
    """Return the prefix and 256 random bits in 43 URL-safe characters."""
    return prefix + secrets.token_urlsafe(32)


def digest_credential(credential: str) -> str:
    """Return the SHA-256 in hexadecimal; with 256 random bits no salt or stretching is needed."""
    return hashlib.sha256(credential.encode()).hexdigest()
