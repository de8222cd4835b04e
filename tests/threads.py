"""Several threads that begin together, each with its own connection to the database."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from time import monotonic
from typing import TypeVar

from django.db import connection, connections

PATIENCE_SECONDS = 60
# On SQLite an act waits for the one writer, and nobody sees that: the test gives it this long.
UNSEEN_SECONDS = 0.3
# How often an act that is held looks whether the other one waits.
LOOK_SECONDS = 0.003
THREADS = 20

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def run_together(acts: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """Run the acts at the same time; return their results in order, or raise the first error."""
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
    """Do the work for every task in up to THREADS threads; return the results in order."""
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
    """Holds one act somewhere, until another, which began then, waits for its lock or is done."""

    def __init__(self) -> None:
        self._is_reached, self._is_done = Event(), Event()

    def wait_here(self) -> bool:
        """Let the other act begin; tell whether it got done, or has to wait for a lock."""
        self._is_reached.set()
        if connection.vendor == "sqlite":
            return self._is_done.wait(UNSEEN_SECONDS)
        until = monotonic() + PATIENCE_SECONDS
        while not (self._is_done.wait(LOOK_SECONDS) or is_lock_awaited()):
            assert monotonic() < until, "the other act waits, and not for a lock of the database"
        return self._is_done.is_set()

    def pass_by(self) -> None:
        """Let the other act begin, since this act has ended without wait_here()."""
        self._is_reached.set()

    def come(self, act: Callable[[], _Result]) -> _Result:
        """Run the other act once this one waits or has passed by."""
        assert self._is_reached.wait(PATIENCE_SECONDS), "the acts never met"
        try:
            return act()
        finally:
            self._is_done.set()


# Other workers use other databases of the same server. A lock on a row is waited for as one on the
# holder's transaction, which names no database; but the same process has locked the row's table.
IS_LOCK_AWAITED = """
    SELECT EXISTS (
        SELECT 1 FROM pg_locks AS waiting JOIN pg_locks AS held USING (pid)
        JOIN pg_database ON pg_database.oid = held.database
        WHERE NOT waiting.granted AND datname = current_database()
    )
"""


def is_lock_awaited() -> bool:
    """Return whether a transaction in this database waits for a lock; on PostgreSQL only."""
    with connection.cursor() as cursor:
        cursor.execute(IS_LOCK_AWAITED)
        (waits,) = cursor.fetchone()
        return bool(waits)
