"""Whether this process can show a page: database, tables, cache and static files are there."""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from django.core.cache import cache
from django.db import DatabaseError, InterfaceError, connection

from agent_access.database.failures import NO_FILE, NOT_MIGRATED, explain
from agent_access.database.schema import lacks_migrations
from agent_access.database.triggers import SQLITE, lacks_triggers
from config.operations.static_files import COLLECT, UNCOLLECTED, are_there, find_fault

logger = logging.getLogger(__name__)

DEADLINE_SECONDS = 2.0
# Whoever asks more often gets the last result, so that nobody can overload the database.
FRESH_SECONDS = 1.0

CACHE_GONE = "The cache that counts requests cannot be used ({reason}): see CACHE_URL."
NO_TRIGGERS = (
    "The database {name} lacks triggers, since a migrate broke off: run manage.py migrate."
)

Probe = Callable[[], None]


class NotReadyError(Exception):
    """Something is missing; its message says what, and how to repair it."""


class CacheGoneError(NotReadyError):
    """The cache cannot be reached, or takes no writes."""


def require_files() -> None:
    """Raise NotReadyError unless the static files, and a database that is a file, can be used."""
    if fault := find_fault():
        raise NotReadyError(" ".join(fault))
    file = Path(connection.settings_dict["NAME"])
    if connection.vendor == SQLITE and not _can_be_written(file):
        raise NotReadyError(NO_FILE.format(name=file))


def _can_be_written(file: Path) -> bool:
    """Return whether SQLite can write the file and, beside it, what it does not commit yet."""
    is_writable = not file.exists() or os.access(file, os.W_OK)
    return is_writable and os.access(file.parent, os.W_OK | os.X_OK)


def try_cache() -> None:
    """Raise CacheGoneError unless the cache takes a write."""
    try:
        cache.set("readiness", 1)
    except Exception as error:  # of whichever library the cache has
        reason = str(error).partition("\n")[0].rstrip(".")
        raise CacheGoneError(CACHE_GONE.format(reason=reason)) from error


class Readiness:
    """Runs the probe in a thread, one at a time and within a deadline; if it raises, not ready.

    A probe that is late goes on, since no thread can be ended: until then it is not ready.
    """

    def __init__(self, probe: Probe, *, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._probe = probe
        self._deadline_seconds = deadline_seconds
        self._probing = threading.Lock()
        self._thread: threading.Thread | None = None  # of the last probe
        self._probed_at = -FRESH_SECONDS
        self._is_ready = False

    def read(self) -> bool:
        """Return a result of the last FRESH_SECONDS; the last one, while a probe is running."""
        if self._probing.acquire(blocking=False):
            try:
                if time.monotonic() - self._probed_at >= FRESH_SECONDS:
                    self._is_ready = self._answers_in_time()
                    self._probed_at = time.monotonic()
            finally:
                self._probing.release()
        return self._is_ready

    def _answers_in_time(self) -> bool:
        answers: list[bool] = []
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._answer, args=(answers,), daemon=True)
            self._thread.start()
            self._thread.join(self._deadline_seconds)
        if self._thread.is_alive():
            logger.warning(
                "Not ready. There was no answer in time: see DATABASE_URL and CACHE_URL."
            )
        return answers == [True]

    def _answer(self, answers: list[bool]) -> None:
        try:
            self._probe()
            answers.append(True)
        except NotReadyError as missing:
            logger.warning("Not ready. %s", missing)
        except Exception as exception:
            logger.warning("Not ready.", exc_info=exception)


class ServiceProbe:
    """Tries what a page needs; looks at migrations until all have been there once."""

    def __init__(self) -> None:
        self._is_migrated = False

    def __call__(self) -> None:
        """Raise NotReadyError for what an operator can repair."""
        from agent_access.models.settings import AccessSettings  # noqa: PLC0415  after setup()

        if not are_there():
            raise NotReadyError(f"{UNCOLLECTED} {COLLECT}")
        try_cache()
        try:
            self._require_migrations()
            AccessSettings.read()
        except (DatabaseError, InterfaceError) as error:
            sentence = explain(error)
            if sentence is None:
                raise
            raise NotReadyError(sentence) from error
        finally:
            connection.close()  # which this thread alone would use, and it ends now

    def _require_migrations(self) -> None:
        """Raise NotReadyError while a migration or a trigger of this version is missing."""
        if self._is_migrated:
            return
        name = connection.settings_dict["NAME"]
        if lacks_migrations():
            raise NotReadyError(NOT_MIGRATED.format(name=name))
        if lacks_triggers(connection):
            raise NotReadyError(NO_TRIGGERS.format(name=name))
        self._is_migrated = True
