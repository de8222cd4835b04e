"""Whether a request comes from a person's web session: programs must not decide about programs."""

from typing import Any

from django.contrib.auth import get_user
from django.http import HttpRequest


def has_session(request: HttpRequest) -> bool:
    """Return whether the request's user has signed in to this very session.

    A project's middleware may know a person by a token too, which is held by a program.
    """
    user: Any = request.user
    if not user.is_authenticated:
        return False
    # Django's reading of the session, which finds nobody once another password has ended it.
    return bool(get_user(request) == user)
