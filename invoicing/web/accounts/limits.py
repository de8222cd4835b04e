"""How often somebody may try to sign in, from one address and for one account."""

import logging
import math
from collections.abc import Callable

from django.http import HttpResponse
from django_ratelimit.core import get_usage

from invoicing.models import User
from invoicing.visits import web_origin
from invoicing.web.failures import show_unavailable

logger = logging.getLogger(__name__)

ATTEMPTS_PER_ADDRESS = "30/5m"
ATTEMPTS_PER_PAIR = "10/5m"
ATTEMPTS_PER_ACCOUNT = "100/5m"


class AttemptRefusedError(Exception):
    """The attempt does not count; nobody is let in."""


class LimitReachedError(AttemptRefusedError):
    """Too many attempts; says when the next one counts."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"{seconds} s")
        self.seconds = seconds
        self.minutes = math.ceil(seconds / 60)


class LimitUnknownError(AttemptRefusedError):
    """The cache in which attempts are counted is gone; nobody is let in uncounted."""


def count_attempt(*, account: str) -> None:
    """Count one attempt, whether or not the account exists; raises AttemptRefusedError.

    The strict limit on an account holds for one address, and an attempt over it is not counted
    further: nobody locks another person out from one place.
    """
    name = User.objects.normalize_email(account)
    network = web_origin().client_network
    _spend("sign-in.address", bucket=network, rate=ATTEMPTS_PER_ADDRESS)
    _spend("sign-in.pair", bucket=f"{network} {name}", rate=ATTEMPTS_PER_PAIR)
    _spend("sign-in.account", bucket=name, rate=ATTEMPTS_PER_ACCOUNT)


def count_code() -> None:
    """Count one use of a one-time code, good or not; raises AttemptRefusedError."""
    network = web_origin().client_network
    _spend("code.address", bucket=network, rate=ATTEMPTS_PER_ADDRESS)


def answer_refused(
    refusal: AttemptRefusedError, show_form: Callable[..., HttpResponse]
) -> HttpResponse:
    """Show the form with how long to wait, or that attempts cannot be counted now."""
    if not isinstance(refusal, LimitReachedError):
        return show_unavailable()
    response = show_form(status=429, minutes_to_wait=refusal.minutes)
    response["Retry-After"] = str(refusal.seconds)
    return response


def _failures() -> tuple[type[Exception], ...]:
    """Return what a cache that is gone raises; Python asks only when something was raised."""
    from redis.exceptions import RedisError  # noqa: PLC0415  a start need not wait for the library

    return RedisError, OSError


def _spend(group: str, *, bucket: str, rate: str) -> None:
    try:
        # Only the library's own kinds of key would read the request.
        usage = get_usage(None, group, key=lambda *_: bucket, rate=rate, increment=True)
    except _failures():
        logger.exception("Attempts cannot be counted.")
        raise LimitUnknownError from None
    if usage is None or not usage["limit"]:
        raise LimitUnknownError
    if usage["should_limit"]:
        # The window ends with the second that the library names; it may have ended meanwhile.
        raise LimitReachedError(max(usage["time_left"], 0) + 1)
