"""Web sessions whose key only the browser knows: the database stores a digest of it."""

import hashlib
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import InternalError, OperationalError
from django.utils import timezone
from typing_extensions import override


def digest_session_key(key: str) -> str:
    """Return the digest of a key: SHA-256 in hexadecimal, cut to the column's 40 characters."""
    return hashlib.sha256(key.encode()).hexdigest()[:40]


class SessionStore(db.SessionStore):
    """Django's database sessions, stored by digest, so that a copy of the database lets nobody in.

    The asynchronous methods are not overridden, since the application is served over WSGI.
    """

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        digest = digest_session_key(self.session_key or "")
        live = self.model.objects.filter(session_key=digest, expire_date__gt=timezone.now())
        found: AbstractBaseSession | None = live.first()
        if found is None:
            self._session_key = None
        return found

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
