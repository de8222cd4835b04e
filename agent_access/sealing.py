"""Answers that hold a secret, encrypted under a key derived from SECRET_KEY."""

import hashlib
from base64 import urlsafe_b64encode
from contextlib import suppress

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

PURPOSE = b"agent_access.sealing:"


class KeyGoneError(Exception):
    """Neither SECRET_KEY nor one of its fallbacks sealed this."""


def seal(secret: bytes) -> bytes:
    """Return the secret as a Fernet token (ASCII)."""
    return _fernet().encrypt(secret)


def unseal(token: bytes) -> bytes:
    """Return what was sealed; raise KeyGoneError if its key is no longer configured."""
    try:
        return _fernet().decrypt(token)
    except InvalidToken:
        raise KeyGoneError from None


def reseal(token: bytes) -> bytes | None:
    """Return the same sealed with SECRET_KEY if one of its fallbacks sealed it, else None."""
    try:
        _fernet_of(settings.SECRET_KEY).decrypt(token)
    except InvalidToken:
        with suppress(InvalidToken):
            return _fernet().rotate(token)
    return None


def _fernet() -> MultiFernet:
    return MultiFernet(map(_fernet_of, [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]))


def _fernet_of(key: str) -> Fernet:
    return Fernet(urlsafe_b64encode(hashlib.sha256(PURPOSE + key.encode()).digest()))
