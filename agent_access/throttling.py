"""Limits: how often something may happen within a window of time, counted by django-ratelimit."""

from collections.abc import Iterable
from dataclasses import dataclass

from django_ratelimit.core import get_usage

from agent_access.errors import RateLimitedError, UnavailableError

WINDOW_SECONDS = 60


@dataclass(frozen=True)
class Allowance:
    """What one policy leaves of its quota in the current window."""

    policy: str
    quota: int
    spent: int
    reset_seconds: int

    @property
    def remaining(self) -> int:
        return max(0, self.quota - self.spent)

    @property
    def is_exceeded(self) -> bool:
        return self.spent > self.quota

    @property
    def is_first_excess(self) -> bool:
        """Return whether this is the first request over the quota: only that one is audited."""
        return self.spent == self.quota + 1

    def enforce(self) -> None:
        """Raise RateLimitedError if the quota is exceeded."""
        if self.is_exceeded:
            raise RateLimitedError(retry_after=self.reset_seconds)


def spend(policy: str, *, bucket: str, quota: int) -> Allowance:
    """Count one request against a quota per minute; raise UnavailableError if its count is lost."""
    group = f"agent_access.{policy}"
    try:
        spent, left = count(group, bucket, quota=quota, seconds=WINDOW_SECONDS)
    except ValueError:
        raise UnavailableError from None
    return Allowance(policy, quota, spent, left)


def is_first(policy: str, *, bucket: str) -> bool:
    """Count one; tell whether it is the first in this minute, and so worth an audit event."""
    return spend(policy, bucket=bucket, quota=1).spent == 1


def count(
    group: str, bucket: str, *, quota: int, seconds: int, increment: bool = True
) -> tuple[int, int]:
    """Count one more, unless `increment` is off; return the count, and the seconds until it ends.

    A bucket's windows end at the same times in every group, and those of most buckets at different
    times. Raises what a failed cache raises, and ValueError if the count is lost or switched off.
    """
    usage = get_usage(
        None, group=group, key=lambda *_: bucket, rate=(quota, seconds), increment=increment
    )
    # None where a setting of the library would let everybody in; a limit that is reached without a
    # count is its answer for a cache that has just dropped it.
    if usage is None or (usage["should_limit"] and not usage["count"]):
        raise ValueError("The cache does not count.")
    # The library's window lasts to the end of the second that it names. By now it may have ended.
    return usage["count"], max(1, usage["time_left"] + 1)


def rate_limit_headers(allowances: Iterable[Allowance]) -> dict[str, str]:
    """Return the header fields of draft-ietf-httpapi-ratelimit-headers-10 (RFC 9651 lists)."""
    known = list(allowances)
    if not known:
        return {}
    return {
        "RateLimit-Policy": ", ".join(
            f'"{each.policy}";q={each.quota};w={WINDOW_SECONDS}' for each in known
        ),
        "RateLimit": ", ".join(
            f'"{each.policy}";r={each.remaining};t={each.reset_seconds}' for each in known
        ),
    }
