"""Whether this process can serve: the database answers with today's tables, the cache counts."""

import logging
import threading
import time
from collections.abc import Callable

from django.core.cache import cache
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

logger = logging.getLogger(__name__)

DEADLINE_SECONDS = 2.0
# Whoever asks more often gets the last answer, so that nobody can wear the database out.
FRESH_SECONDS = 1.0

Probe = Callable[[], None]


class Readiness:
    """Asks in a thread of its own, one at a time and within a deadline; raising means no."""

    def __init__(self, probe: Probe, *, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._probe = probe
        self._deadline_seconds = deadline_seconds
        self._probing = threading.Lock()
        self._probed_at = -FRESH_SECONDS
        self._is_ready = False

    def read(self) -> bool:
        """Return the answer of at most a second ago, or the last one while somebody asks anew."""
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
    """Asks the database and the cache; the migrations only until they have once been complete."""

    def __init__(self) -> None:
        self._is_migrated = False

    def __call__(self) -> None:
        cache.set("readiness", 1)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            self._require_migrations()
        finally:
            connection.close()  # the thread that asks ends with the answer

    def _require_migrations(self) -> None:
        """Raise RuntimeError while a migration of this version is missing.

        Tables that are newer than this process are no fault: the next version migrated them.
        """
        if self._is_migrated:
            return
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise RuntimeError("some migrations have not been applied")
        self._is_migrated = True
