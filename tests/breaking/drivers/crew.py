"""The drivers at work beside the agents, and what they found."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import psycopg

from tests.breaking.caller import GivenUpError
from tests.breaking.drivers.driver import Driver, Found, Site
from tests.breaking.drivers.exchange import LostError
from tests.breaking.person import UnheardError

# As long as drivers may take to end what they are at, and then to settle what is left.
LAST_WORK_SECONDS = 300


class Crew:
    """Runs every driver in threads of its own."""

    def __init__(self, site: Site, drivers: Sequence[type[Driver]]) -> None:
        self._site = site
        self._drivers = [each(site) for each in drivers]
        threads = sum(1 + each.threads for each in self._drivers)
        self._pool = ThreadPoolExecutor(max(threads, 1))
        self._work: list[Future[None]] = []

    def __enter__(self) -> Self:
        try:
            list(self._pool.map(lambda driver: driver.prepare(), self._drivers))
        except BaseException:
            self.close()
            raise
        self._work = [
            self._pool.submit(self._run, driver)
            for driver in self._drivers
            for _ in range(driver.threads)
        ]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._site.enough.set()
        self._site.given_up.set()
        self._pool.shutdown()
        for driver in self._drivers:
            driver.close()

    def stop(self) -> None:
        """Let every driver end what it is at, while all is still being disturbed."""
        self._site.enough.set()

    def settle(self) -> None:
        """Wait for them, and let them do what is left; raise what went wrong in the harness."""
        for driver in self._drivers:
            driver.calm()
        self._join(self._work)
        self._join([self._pool.submit(_settle, driver) for driver in self._drivers])

    def find(self, url: str) -> Found:
        """Return the columns of all drivers, from their diaries and the database."""
        found: dict[str, Sequence[str]] = {}
        with psycopg.connect(url) as database:
            for driver in self._drivers:
                found |= driver.find(database)
        return found

    def counts(self) -> Mapping[str, int]:
        return {name: count for each in self._drivers for name, count in each.counts().items()}

    def _join(self, work: Sequence[Future[Any]]) -> None:
        ended, going_on = wait(work, timeout=LAST_WORK_SECONDS)
        if going_on:
            self._site.given_up.set()
            ended, _ = wait(work)
        for each in ended:
            each.result()

    def _run(self, driver: Driver) -> None:
        while not self._site.enough.is_set():
            begun = time.monotonic()
            try:
                driver.work()
            except (LostError, UnheardError):
                threading.Event().wait(0.1)
            except GivenUpError:
                return
            self._site.enough.wait(driver.rests * (time.monotonic() - begun))


def _settle(driver: Driver) -> None:
    with suppress(GivenUpError):  # what is left undone is in its diary
        driver.settle()
