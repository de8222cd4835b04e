"""Several threads that begin together, each with its own connection to the database."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import TypeVar

from django.db import connection, connections

PATIENCE_SECONDS = 60
THREADS = 20

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def run_together(acts: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """Return what the acts return, in their order; raise what the first of them raises."""
    start = Barrier(len(acts))

    def run(act: Callable[[], _Result]) -> _Result:
        start.wait(PATIENCE_SECONDS)
        try:
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))


def in_threads(work: Callable[[_Task], _Result], tasks: Sequence[_Task]) -> list[_Result]:
    """Do the work for every task, twenty at a time; return the results in the tasks' order."""
    start = Barrier(min(THREADS, len(tasks)))

    def do(task: _Task) -> _Result:
        try:
            return work(task)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(start.parties) as threads:
        for _ in range(start.parties):
            threads.submit(start.wait, PATIENCE_SECONDS)
        return list(threads.map(do, tasks))


class Encounter:
    """Holds one act at a place until another one, which came there, waits for it or is done."""

    def __init__(self) -> None:
        self._is_reached, self._is_done = Event(), Event()

    def wait_here(self) -> bool:
        """Tell whether the other one is done."""
        self._is_reached.set()
        while not (self._is_done.wait(0.01) or somebody_waits_for_a_row()):
            pass
        return self._is_done.is_set()

    def pass_by(self) -> None:
        """Let the other act begin in any case: the place is not reached any more."""
        self._is_reached.set()

    def come(self, act: Callable[[], _Result]) -> _Result:
        self._is_reached.wait(PATIENCE_SECONDS)
        try:
            return act()
        finally:
            self._is_done.set()


# Other workers of the run have databases of their own on the same server. Who waits for a row waits
# for its transaction, which is of no database; but he has locked the row's table.
SOMEBODY_WAITS = """
    SELECT EXISTS (
        SELECT 1 FROM pg_locks AS waiting JOIN pg_locks AS held USING (pid)
        JOIN pg_database ON pg_database.oid = held.database
        WHERE NOT waiting.granted AND datname = current_database()
    )
"""


def somebody_waits_for_a_row() -> bool:
    """Tell whether anybody waits for a lock in this database; on PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute(SOMEBODY_WAITS)
        (waits,) = cursor.fetchone()
        return bool(waits)
