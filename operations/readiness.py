"""Whether this process can serve: the database answers and is migrated, the cache works."""

import logging
import threading
import time
from collections.abc import Callable

from django.core.cache import cache
from django.db import connection

from agent_access.database.schema import lacks_migrations
from agent_access.database.triggers import lacks_triggers

logger = logging.getLogger(__name__)

DEADLINE_SECONDS = 2.0
# Whoever asks more often gets the last result, so that nobody can overload the database.
FRESH_SECONDS = 1.0

Probe = Callable[[], None]


class Readiness:
    """Runs the probe in a thread, one at a time and within a deadline; if it raises, not ready."""

    def __init__(self, probe: Probe, *, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._probe = probe
        self._deadline_seconds = deadline_seconds
        self._probing = threading.Lock()
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
        thread = threading.Thread(target=self._answer, args=(answers,), daemon=True)
        thread.start()
        thread.join(self._deadline_seconds)
        return answers == [True]

    def _answer(self, answers: list[bool]) -> None:
        try:
            self._probe()
            answers.append(True)
        except Exception as exception:
            logger.warning("Not ready.", exc_info=exception)


class ServiceProbe:
    """Tries the cache and the database; looks at migrations until all have been there once."""

    def __init__(self) -> None:
        self._is_migrated = False

    def __call__(self) -> None:
        cache.set("readiness", 1)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            self._require_migrations()
        finally:
            connection.close()  # which this thread alone would use, and it ends now

    def _require_migrations(self) -> None:
        """Raise RuntimeError while a migration or a trigger of this version is missing."""
        if self._is_migrated:
            return
        if lacks_migrations():
            raise RuntimeError("some migrations have not been applied")
        if lacks_triggers(connection):
            raise RuntimeError("triggers are missing: migrate has not ended")
        self._is_migrated = True
