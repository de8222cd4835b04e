"""Several threads that begin together, each with its own connection to the database."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
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


def somebody_waits_for_a_row() -> bool:
    """Tell whether anybody waits for a lock; on PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        (waits,) = cursor.fetchone()
        return bool(waits)
