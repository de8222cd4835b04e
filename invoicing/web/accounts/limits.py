"""Limits of attempts to sign in: per IP address, account, pair of both, and known browser."""

import logging
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from django.http import HttpResponse

from agent_access.throttling import count
from invoicing.models import User
from invoicing.visits import web_origin
from invoicing.web.failures import show_unavailable

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 5 * 60
ATTEMPTS_PER_ADDRESS = 30
ATTEMPTS_PER_PAIR = 10
ATTEMPTS_PER_DEVICE = 10
ATTEMPTS_PER_ACCOUNT = 100
# Each sign-in page that is opened asks for one, for a passkey that may be offered.
CHALLENGES_PER_ADDRESS = 300


class Limit(NamedTuple):
    """How many attempts may count in one bucket of a group."""

    group: str
    bucket: str
    most: int


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


def count_attempt(*, account: str, device: str = "") -> list[Limit]:
    """Count one attempt, whether or not the account exists; return the limits that it counts for.

    The strict limit is of one account from one address, and an attempt over it does not count for
    the account: nobody can lock another person out from one address. A browser that is known for
    the account (find_device) has a limit of its own in place of both, so that nobody locks it out
    from any number of addresses; over that limit, it counts like an unknown one. Raises
    AttemptRefusedError.
    """
    name = User.objects.normalize_email(account)
    network = web_origin().client_network
    address = _address_limit()
    own = Limit("sign-in.device", f"{device} {name}", ATTEMPTS_PER_DEVICE)
    shared = [
        Limit("sign-in.pair", f"{network} {name}", ATTEMPTS_PER_PAIR),
        Limit("sign-in.account", name, ATTEMPTS_PER_ACCOUNT),
    ]
    _spend(address)
    if device:
        with suppress(LimitReachedError):
            _spend(own)
            return [address, own]
    for limit in shared:
        _spend(limit)
    return [address, *shared]


def count_passkey() -> list[Limit]:
    """Count one attempt to sign in with a passkey, which names no account, as count_attempt() does.

    Raises AttemptRefusedError.
    """
    address = _address_limit()
    _spend(address)
    return [address]


def count_challenge() -> None:
    """Count one challenge that a passkey is asked to sign; raises AttemptRefusedError."""
    network = web_origin().client_network
    _spend(Limit("challenge.address", network, CHALLENGES_PER_ADDRESS))


def refund_attempt(counted: Iterable[Limit]) -> None:
    """Uncount an attempt, since what was proven is right; raises AttemptRefusedError.

    Otherwise an office behind one address would lock itself out in the morning. Until then the
    attempt counts, so that simultaneous guesses meet the limit too.
    """
    for limit in counted:
        _count(_given_back(limit))


def count_code() -> None:
    """Count one attempt to use a one-time code, valid or not; raises AttemptRefusedError."""
    network = web_origin().client_network
    _spend(Limit("code.address", network, ATTEMPTS_PER_ADDRESS))


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


def _address_limit() -> Limit:
    return Limit("sign-in.address", web_origin().client_network, ATTEMPTS_PER_ADDRESS)


def _given_back(limit: Limit) -> Limit:
    """Return what counts the attempts given back: the same bucket has the same windows."""
    return limit._replace(group=f"{limit.group}.given-back")


def _spend(limit: Limit) -> None:
    spent, left = _count(limit)
    if spent <= limit.most:
        return
    if spent - _count(_given_back(limit), increment=False)[0] > limit.most:
        raise LimitReachedError(left)


def _count(limit: Limit, *, increment: bool = True) -> tuple[int, int]:
    group, bucket, most = limit
    try:
        return count(group, bucket, quota=most, seconds=WINDOW_SECONDS, increment=increment)
    except _failures():
        logger.exception("Attempts cannot be counted.")
        raise LimitUnknownError from None
