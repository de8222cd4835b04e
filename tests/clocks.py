"""Clocks to pass to services, which read them after their locks."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from invoicing.services.issuing import Clock


def at(instant: datetime) -> Clock:
    """Return a clock that stands still."""
    return lambda: instant


@dataclass
class Watch:
    """A clock that a test puts forward."""

    time: datetime

    def __call__(self) -> datetime:
        return self.time

    def move_while(self, wait: Callable[..., Any], *, to: datetime) -> Callable[..., Any]:
        """Return the function as one that waits: when it returns, the clock shows `to`."""

        def wait_until(*args: Any, **kwargs: Any) -> Any:
            done = wait(*args, **kwargs)
            self.time = to
            return done

        return wait_until
