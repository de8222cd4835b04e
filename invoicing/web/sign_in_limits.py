"""How often somebody may try to sign in, from one address and for one account."""

import math
from typing import Any

from django.http import HttpRequest
from django_ratelimit.core import get_usage

from invoicing.decisions import web_origin

ATTEMPTS_PER_ADDRESS = "30/5m"
ATTEMPTS_PER_PAIR = "10/5m"
ATTEMPTS_PER_ACCOUNT = "100/5m"


class LimitReachedError(Exception):
    """Too many attempts; says when the next one counts."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"{seconds} s")
        self.seconds = seconds
        self.minutes = math.ceil(seconds / 60)


class LimitUnknownError(Exception):
    """The cache in which attempts are counted is gone; nobody is let in uncounted."""


def count_attempt(request: HttpRequest, *, account: str) -> None:
    """Count one attempt, whether or not the account exists; raises the two errors above.

    The strict limit on an account holds for one address, and an attempt over it is not counted
    further: nobody locks another person out from one place.
    """
    name = account.strip().lower()
    network = web_origin().client_network
    # One address and one account together.
    pair = f"{network} {name}"
    _spend(request, group="sign-in.address", key=lambda *_: network, rate=ATTEMPTS_PER_ADDRESS)
    _spend(request, group="sign-in.pair", key=lambda *_: pair, rate=ATTEMPTS_PER_PAIR)
    _spend(request, group="sign-in.account", key=lambda *_: name, rate=ATTEMPTS_PER_ACCOUNT)


def count_code(request: HttpRequest) -> None:
    """Count one use of a one-time code, good or not; raises the two errors above."""
    network = web_origin().client_network
    _spend(request, group="code.address", key=lambda *_: network, rate=ATTEMPTS_PER_ADDRESS)


def _failures() -> tuple[type[Exception], ...]:
    """Return what a cache that is gone raises; Python asks only when something was raised."""
    from redis.exceptions import RedisError  # noqa: PLC0415  a start need not wait for the library

    return RedisError, OSError


def _spend(request: HttpRequest, **bucket: Any) -> None:
    try:
        usage = get_usage(request, increment=True, **bucket)
    except _failures():
        raise LimitUnknownError from None
    if usage is None or usage["time_left"] < 0:
        raise LimitUnknownError
    if usage["should_limit"]:
        raise LimitReachedError(usage["time_left"] + 1)
