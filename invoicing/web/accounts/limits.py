"""How often somebody may try to sign in, from one address and for one account."""

import logging
import math
from collections.abc import Callable, Iterator
from typing import Any

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
    for group, bucket, rate in _limits_of(account):
        _spend(group, bucket=bucket, rate=rate)


def give_attempt_back(*, account: str) -> None:
    """Count an attempt no more that had the right password; raises AttemptRefusedError.

    Else an office behind one address locks itself out in the morning. It was counted all the same
    while the password was looked at, so that guesses made at once find the limit as well.
    """
    for group, bucket, rate in _limits_of(account):
        _count(_given_back(group), bucket=bucket, rate=rate, increment=True)


def _limits_of(account: str) -> Iterator[tuple[str, str, str]]:
    name = User.objects.normalize_email(account)
    network = web_origin().client_network
    yield "sign-in.address", network, ATTEMPTS_PER_ADDRESS
    yield "sign-in.pair", f"{network} {name}", ATTEMPTS_PER_PAIR
    yield "sign-in.account", name, ATTEMPTS_PER_ACCOUNT


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


def _given_back(group: str) -> str:
    """Return the group of what is given back; of the same bucket it has the same windows."""
    return f"{group}.given-back"


def _spend(group: str, *, bucket: str, rate: str) -> None:
    usage = _count(group, bucket=bucket, rate=rate, increment=True)
    if not usage["should_limit"]:
        return
    given_back = _count(_given_back(group), bucket=bucket, rate=rate, increment=False)
    if usage["count"] - given_back["count"] > usage["limit"]:
        # The window ends with the second that the library names; it may have ended meanwhile.
        raise LimitReachedError(max(usage["time_left"], 0) + 1)


def _count(group: str, *, bucket: str, rate: str, increment: bool) -> dict[str, Any]:
    usage: dict[str, Any] | None
    try:
        # Only the library's own kinds of key would read the request.
        usage = get_usage(None, group, key=lambda *_: bucket, rate=rate, increment=increment)
    except _failures():
        logger.exception("Attempts cannot be counted.")
        raise LimitUnknownError from None
    if usage is None or not usage["limit"]:
        raise LimitUnknownError
    return usage
