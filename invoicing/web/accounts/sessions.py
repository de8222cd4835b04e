"""Web sessions whose key only the browser knows: the database stores a digest of it.

They tell a sign-in with a passkey from one with a password, which counts for nothing from the day
on from which the owner requires passkeys.
"""

import hashlib
from datetime import date
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import InternalError, OperationalError
from django.utils import timezone
from typing_extensions import override

from invoicing.passkey_rule import REQUIRED_FROM, has_come

# In a session: its person signed in with a passkey.
WITH_PASSKEY = "with_passkey"
# In a session: the ID of that passkey, if it was on this very device.
PASSKEY_HERE = "passkey"


def digest_session_key(key: str) -> str:
    """Return the digest of a key: SHA-256 in hexadecimal, cut to the column's 40 characters."""
    return hashlib.sha256(key.encode()).hexdigest()[:40]


class SessionStore(db.SessionStore):
    """Django's database sessions, stored by digest, so that a copy of the database lets nobody in.

    `passkeys_required_from` is the owner's day as of when the session was read, in the same query.
    The asynchronous methods are not overridden, since the application is served over WSGI.
    """

    passkeys_required_from: date | None = None

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        digest = digest_session_key(self.session_key or "")
        live = self.model.objects.filter(session_key=digest, expire_date__gt=timezone.now())
        found: Any = live.annotate(passkeys_required_from=REQUIRED_FROM).first()
        if found is None:
            self._session_key = None
        else:
            self.passkeys_required_from = found.passkeys_required_from
        return found  # type: ignore[no-any-return]  # Any for the sake of its annotation

    @override
    def load(self) -> dict[str, Any]:
        """Return what is stored: nothing if it was begun with a password, which is over by now."""
        stored: dict[str, Any] = super().load()
        is_by_password = SESSION_KEY in stored and WITH_PASSKEY not in stored
        if not (is_by_password and has_come(self.passkeys_required_from)):
            return stored
        self._session_key = None
        return {}

    @override
    def exists(self, session_key: str) -> bool:
        return super().exists(digest_session_key(session_key))

    @override
    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        session = super().create_model_instance(data)
        session.session_key = digest_session_key(session.session_key)
        return session

    @override
    def save(self, must_create: bool = False) -> None:
        """Raise what the database raised, where Django would tell of a session that was deleted."""
        try:
            super().save(must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError | InternalError):
                raise error.__context__ from None
            raise

    @override
    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(digest_session_key(key))
