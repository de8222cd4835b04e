"""The cookie by which a browser is known in which a person has signed in before.

It signs nobody in. The attempts of such a browser are counted by themselves (limits.py), so that
whoever guesses a person's password elsewhere does not keep that person out.
"""

from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string

from invoicing.models import User

# The prefix makes a browser refuse the cookie of a neighbouring host, or one sent without TLS.
COOKIE = "__Host-device"
AGE_SECONDS = 180 * 24 * 60 * 60
NONCE_LENGTH = 22


def remember_device(response: HttpResponse, person: User) -> None:
    """Give the browser a new cookie for this person, in place of any that it had."""
    response.set_signed_cookie(
        COOKIE,
        get_random_string(NONCE_LENGTH),
        salt=_salt_of(person),
        max_age=AGE_SECONDS,
        secure=True,
        httponly=True,
        samesite="Lax",
    )


def find_device(request: HttpRequest, email: str) -> str:
    """Return by which name the browser's attempts for this account count; empty if it is unknown.

    A cookie counts for the person for whom it was made alone, until their sessions are ended, as by
    another password.
    """
    if COOKIE not in request.COOKIES:
        return ""
    person = User.objects.filter(email=User.objects.normalize_email(email)).first()
    if person is None:
        return ""
    salt = _salt_of(person)
    return request.get_signed_cookie(COOKIE, default="", salt=salt, max_age=AGE_SECONDS) or ""


def _salt_of(person: User) -> str:
    """Return what is signed with a cookie and not in it, so that it tells nobody whose it is."""
    return f"invoicing.device {person.pk} {person.session_revision}"
