"""Runs tests in a copy of the project: with all guards, and without one after another."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue

from tests.environment import DATABASES
from tests.promises.grounds import Copy, Databases
from tests.promises.rows import Guard
from tests.promises.verdicts import Case, Verdict, find_not_green, judge

# A lock that is gone may let a test wait for ever.
SECONDS_OF_A_TRIAL = 240
SECONDS_OF_ALL = 1800
HUNG = -1

PYTEST = (
    *("-m", "pytest", "-q", "-n", "0", "--reuse-db", "--tb=short", "--show-capture=no"),
    *("-p", "tests.promises.reporting", "-p", "no:randomly", "-p", "no:cacheprovider"),
)


class Trials:
    """As many trials at a time as there are copies."""

    def __init__(self, copies: Sequence[Copy], databases: Databases) -> None:
        self._databases = databases
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)
        self._pool = ThreadPoolExecutor(max_workers=len(copies))

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
        copy = self._free.get()
        try:
            with copy.without(without.edits if without else ()):
                sql = without.sql if without else ""
                variables = self._databases.start_from(
                    database, name=copy.name, sql=sql, folder=copy.folder
                )
                return _run_tests(copy, database, tests, variables, seconds)
        finally:
            self._free.put(copy)


def _run_tests(
    copy: Copy, database: str, tests: Sequence[str], variables: dict[str, str], seconds: int
) -> tuple[int, list[Case]]:
    report = copy.folder / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, *PYTEST, "--database", database, *tests]
    environment = os.environ | variables | {"PROMISES_REPORT": str(report)}
    with (copy.folder / "output.txt").open("ab") as output:
        try:
            done = subprocess.run(  # noqa: S603  our own command
                command,
                cwd=copy.project,
                env=environment,
                stdout=output,
                stderr=output,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return HUNG, []
    return done.returncode, _read_report(report)


def _read_report(report: Path) -> list[Case]:
    if not report.exists():
        return []
    cases: list[Case] = json.loads(report.read_text(encoding="utf-8"))
    return cases
