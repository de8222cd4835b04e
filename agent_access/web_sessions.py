"""Whether a request comes from a person's web session: programs must not decide about programs."""

import hashlib
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare


def has_session(request: HttpRequest) -> bool:
    """Return whether the request's user has signed in to this very session.

    A project's middleware may know a person by a token too, which is held by a program.
    """
    user: Any = request.user
    if not user.is_authenticated:
        return False
    session = request.session
    if session.get(SESSION_KEY) != user._meta.pk.value_to_string(user):
        return False
    # Another password has ended a session with another hash.
    return constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())


def digest_session(request: HttpRequest) -> str:
    """Return what stands for the browser's web session in the database, in 64 characters.

    Of somebody who has not signed in it is their CSRF cookie, which a page with a form has set.
    """
    if request.user.is_authenticated:
        name = f"session:{request.session.session_key}"
    else:
        name = f"csrf:{request.META.get('CSRF_COOKIE') or ''}"
    return hashlib.sha256(name.encode()).hexdigest()
