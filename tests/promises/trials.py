"""Runs tests in copies of the project: with all guards, and without one after another."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from tests.environment import DATABASES
from tests.promises.grounds import Copy, Databases
from tests.promises.rows import Guard
from tests.promises.verdicts import Case, Verdict, find_not_green, judge
from tests.promises.workshop import HUNG, Workshop

# A lock that is gone may let a test wait for ever.
SECONDS_OF_A_TRIAL = 300
SECONDS_OF_ALL = 3600

ARGUMENTS = (
    *("-q", "-n", "0", "--reuse-db", "--tb=short", "--show-capture=no"),
    *("-p", "tests.promises.reporting", "-p", "no:randomly", "-p", "no:cacheprovider"),
)


class Trials:
    """As many trials at a time as there are copies, each with its own workshop."""

    def __init__(self, copies: Sequence[Copy], databases: Databases) -> None:
        self._databases = databases
        self._all = [(each, Workshop(each.project, each.output)) for each in copies]
        self._free: SimpleQueue[tuple[Copy, Workshop]] = SimpleQueue()
        for pair in self._all:
            self._free.put(pair)
        self._pool = ThreadPoolExecutor(max_workers=len(copies))

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        for _, workshop in self._all:
            workshop.close()

    def find_not_green(self, guards: Iterable[Guard]) -> list[tuple[str, str]]:
        """Run all tests with all guards; return database and name of those that do not pass."""
        wanted = {
            name: sorted({test for each in guards if each.database == name for test in each.tests})
            for name in DATABASES
        }
        running = {
            self._pool.submit(self._run, name, tests, seconds=SECONDS_OF_ALL): name
            for name, tests in wanted.items()
            if tests
        }
        return [
            (name, test)
            for future, name in running.items()
            for test in find_not_green(wanted[name], *future.result())
        ]

    def remove(self, guards: Iterable[Guard]) -> Iterator[Verdict]:
        """Remove each guard by itself, and yield what was seen, as it becomes known."""
        for future in as_completed([self._pool.submit(self._try, each) for each in guards]):
            yield future.result()

    def _try(self, guard: Guard) -> Verdict:
        begun = time.monotonic()
        status, cases = self._run(
            guard.database, guard.tests, seconds=SECONDS_OF_A_TRIAL, without=guard
        )
        fault = "took too long" if status == HUNG else judge(guard, status, cases)
        return Verdict(guard=guard, fault=fault, seconds=time.monotonic() - begun)

    def _run(
        self, database: str, tests: Sequence[str], *, seconds: int, without: Guard | None = None
    ) -> tuple[int, list[Case]]:
        """Return pytest's status, and how each test ended."""
        with self._take() as (copy, workshop), copy.without(without.edits if without else ()):
            report = copy.folder / "report.json"
            report.unlink(missing_ok=True)
            sql = without.sql if without else ""
            variables = self._databases.start_from(
                database, name=copy.name, sql=sql, folder=copy.folder
            )
            arguments = [*ARGUMENTS, "--database", database, *tests]
            variables["PROMISES_REPORT"] = str(report)
            status = workshop.run(arguments, variables, seconds)
            return status, _read_report(report)

    @contextmanager
    def _take(self) -> Iterator[tuple[Copy, Workshop]]:
        pair = self._free.get()
        try:
            yield pair
        finally:
            self._free.put(pair)


def _read_report(report: Path) -> list[Case]:
    if not report.exists():
        return []
    cases: list[Case] = json.loads(report.read_text(encoding="utf-8"))
    return cases
