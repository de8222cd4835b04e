"""The transactions of a read: a snapshot of the data, and a commit without a disk flush."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """Let several queries see one moment, so that an answer never mixes two versions.

    Within another transaction it changes nothing.
    """
    outermost = not connection.in_atomic_block
    with _begin_without_lock(), transaction.atomic():
        if outermost and connection.vendor == "postgresql":
            _run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@contextmanager
def _begin_without_lock() -> Iterator[None]:
    """Let SQLite's next transaction begin as a reader, where all others begin as writers.

    With WAL readers and writers do not wait for each other; as a writer, a long search would block
    everybody else.
    """
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()  # which reads the mode from the settings
    wrapper: Any = connection
    mode, wrapper.transaction_mode = wrapper.transaction_mode, "DEFERRED"
    try:
        yield
    finally:
        wrapper.transaction_mode = mode


@contextmanager
def relaxed_commit() -> Iterator[None]:
    """Commit on SQLite without waiting for the disk: a power cut may lose the row, never tear it.

    Within another transaction it commits as that does. Not needed on PostgreSQL, where the relaxed
    statement itself turns the wait off.
    """
    if connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    _run("PRAGMA synchronous = NORMAL")
    try:
        with transaction.atomic():
            yield
    finally:
        _run("PRAGMA synchronous = FULL")


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
