"""When the audit was last verified, and when a backup was last told of, for Prometheus."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from threading import Thread
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, connection
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

if TYPE_CHECKING:
    from agent_access.models import AccessSettings

PERIOD_SECONDS = 60.0


class DailyWork(Collector):
    """Tells what was last read of it, so that no collecting of metrics waits for the database."""

    def __init__(self, read: Callable[[], "AccessSettings"]) -> None:
        self._read = read
        self._last: AccessSettings | None = None

    def read(self) -> None:
        """Read it anew; without a database what was read before still holds."""
        with suppress(DatabaseError, InterfaceError):  # which requests say in the log
            self._last = self._read()

    def keep_reading(self) -> None:
        """Read it once a minute, for good, in a thread that does nothing else."""
        while True:
            try:
                self.read()
            finally:
                connection.close()  # which is not used again for a minute
            time.sleep(PERIOD_SECONDS)

    @override
    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield what is known; of backups nothing before the first one that was told of."""
        if self._last is None:
            return
        yield GaugeMetricFamily(
            "audit_verified_timestamp_seconds",
            "When the audit was last verified, whole or on from kept heads; 0 if never.",
            _seconds(self._last.audit_verified_at) or 0,
        )
        yield GaugeMetricFamily(
            "audit_broken_chains",
            "How many chains of the audit were broken then.",
            self._last.chains_broken or 0,
        )
        if told := _seconds(self._last.backed_up_at):
            yield GaugeMetricFamily(
                "backup_timestamp_seconds", "When manage.py backup_done last ran.", told
            )


def _seconds(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None


def watch_daily_work() -> DailyWork:
    """Return what tells it, and keep it up to date in a thread of this process."""
    from agent_access.models import AccessSettings  # noqa: PLC0415  after setup()

    work = DailyWork(AccessSettings.read)
    Thread(target=work.keep_reading, daemon=True).start()
    return work
