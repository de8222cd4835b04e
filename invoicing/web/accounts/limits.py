"""Limits of attempts to sign in: per IP address, per account, and per pair of both."""

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

# As django-ratelimit writes rates: attempts in five minutes.
ATTEMPTS_PER_ADDRESS = "30/5m"
ATTEMPTS_PER_PAIR = "10/5m"
ATTEMPTS_PER_ACCOUNT = "100/5m"


class AttemptRefusedError(Exception):
    """The attempt is refused, whatever was typed."""


class LimitReachedError(AttemptRefusedError):
    """There were too many attempts; `seconds` until the next one is allowed."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"{seconds} s")
        self.seconds = seconds
        self.minutes = math.ceil(seconds / 60)


class LimitUnknownError(AttemptRefusedError):
    """The cache that counts attempts is gone; an attempt that is not counted is refused."""


def count_attempt(*, account: str) -> None:
    """Count one attempt, whether or not the account exists; raises AttemptRefusedError.

    The strict limit is of one account from one address, and an attempt over it does not count for
    the account: nobody can lock another person out from one address.
    """
    for group, bucket, rate in _limits_of(account):
        _spend(group, bucket=bucket, rate=rate)


def give_attempt_back(*, account: str) -> None:
    """Uncount an attempt, since its password was right; raises AttemptRefusedError.

    Otherwise an office behind one address would lock itself out in the morning. Until then the
    attempt counts, so that simultaneous guesses meet the limit too.
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
    """Count one attempt to use a one-time code, valid or not; raises AttemptRefusedError."""
    network = web_origin().client_network
    _spend("code.address", bucket=network, rate=ATTEMPTS_PER_ADDRESS)


def answer_refused(
    refusal: AttemptRefusedError, show_form: Callable[..., HttpResponse]
) -> HttpResponse:
    """Return the form with the minutes to wait, or the page of an unavailable service."""
    if not isinstance(refusal, LimitReachedError):
        return show_unavailable()
    response = show_form(status=429, minutes_to_wait=refusal.minutes)
    response["Retry-After"] = str(refusal.seconds)
    return response


def _failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of a cache that is gone; evaluated only when something was raised."""
    from redis.exceptions import RedisError  # noqa: PLC0415  a start need not wait for the library

    return RedisError, OSError


def _given_back(group: str) -> str:
    """Return the group that counts what was given back; the same bucket has the same windows."""
    return f"{group}.given-back"


def _spend(group: str, *, bucket: str, rate: str) -> None:
    usage = _count(group, bucket=bucket, rate=rate, increment=True)
    if not usage["should_limit"]:
        return
    given_back = _count(_given_back(group), bucket=bucket, rate=rate, increment=False)
    if usage["count"] - given_back["count"] > usage["limit"]:
        # The last second still belongs to the window, which may have ended meanwhile.
        raise LimitReachedError(max(usage["time_left"], 0) + 1)


def _count(group: str, *, bucket: str, rate: str, increment: bool) -> dict[str, Any]:
    usage: dict[str, Any] | None
    try:
        # No request: only the library's own keys would read it.
        usage = get_usage(None, group, key=lambda *_: bucket, rate=rate, increment=increment)
    except _failures():
        logger.exception("Attempts cannot be counted.")
        raise LimitUnknownError from None
    if usage is None or not usage["limit"]:
        raise LimitUnknownError
    return usage
