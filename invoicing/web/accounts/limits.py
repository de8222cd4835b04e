"""Limits of attempts to sign in: per IP address, per account, and per pair of both."""

import logging
import math
from collections.abc import Callable, Iterator

from django.http import HttpResponse

from agent_access.windows import count
from invoicing.models import User
from invoicing.visits import web_origin
from invoicing.web.failures import show_unavailable

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 5 * 60
ATTEMPTS_PER_ADDRESS = 30
ATTEMPTS_PER_PAIR = 10
ATTEMPTS_PER_ACCOUNT = 100


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
    for group, bucket, most in _limits_of(account):
        _spend(group, bucket, most=most)


def give_attempt_back(*, account: str) -> None:
    """Uncount an attempt, since its password was right; raises AttemptRefusedError.

    Otherwise an office behind one address would lock itself out in the morning. Until then the
    attempt counts, so that simultaneous guesses meet the limit too.
    """
    for group, bucket, _ in _limits_of(account):
        _count(_given_back(group), bucket)


def _limits_of(account: str) -> Iterator[tuple[str, str, int]]:
    name = User.objects.normalize_email(account)
    network = web_origin().client_network
    yield "sign-in.address", network, ATTEMPTS_PER_ADDRESS
    yield "sign-in.pair", f"{network} {name}", ATTEMPTS_PER_PAIR
    yield "sign-in.account", name, ATTEMPTS_PER_ACCOUNT


def count_code() -> None:
    """Count one attempt to use a one-time code, valid or not; raises AttemptRefusedError."""
    network = web_origin().client_network
    _spend("code.address", network, most=ATTEMPTS_PER_ADDRESS)


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
    """Return the exceptions of a cache that cannot count; evaluated only when one was raised."""
    from redis.exceptions import RedisError  # noqa: PLC0415  a start need not wait for the library

    return RedisError, OSError, ValueError


def _given_back(group: str) -> str:
    """Return the group that counts what was given back; the same bucket has the same windows."""
    return f"{group}.given-back"


def _spend(group: str, bucket: str, *, most: int) -> None:
    spent, left = _count(group, bucket)
    if spent > most and spent - _count(_given_back(group), bucket, step=0)[0] > most:
        raise LimitReachedError(left)


def _count(group: str, bucket: str, *, step: int = 1) -> tuple[int, int]:
    try:
        return count(group, bucket, seconds=WINDOW_SECONDS, step=step)
    except _failures():
        logger.exception("Attempts cannot be counted.")
        raise LimitUnknownError from None
