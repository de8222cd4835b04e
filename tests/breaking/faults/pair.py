"""Two PostgreSQL servers, of which one takes the writes and the other repeats them."""

import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from tests.postgresql import Cluster, copy_cluster

PATIENCE_SECONDS = 60
PAUSE_SECONDS = 0.05
IS_FOLLOWED: LiteralString = """
    SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND (
        sync_state = 'sync' OR current_setting('synchronous_standby_names') = ''
    )
"""
IS_PRIMARY: LiteralString = "SELECT NOT pg_is_in_recovery()"


class Pair:
    """A primary and a synchronous standby; after a promotion they have changed places.

    A commit is confirmed only when the standby has it on its disk, but for the moments after a
    promotion in which there is no standby yet, as a tool of failover does it. A pair that is not
    synchronous confirms at once: nobody should have one.
    """

    def __init__(
        self, primary: Cluster, folder: Path, settings: dict[str, str], *, is_synchronous: bool
    ) -> None:
        self.primary, self._settings = primary, settings
        self._names = "*" if is_synchronous else ""
        self.binaries = primary.binaries
        self._folders = [primary.folder, folder]
        self.standby = self._join(folder)

    def url(self, *, role: str = "postgres", database: str = "invoicing") -> str:
        """Return an address that names both, as docs/operations.md has it, and leads to one."""
        hosts = ",".join(str(folder) for folder in self._folders)
        options = f"host={hosts}&target_session_attrs=read-write"
        return f"postgresql://{role}@/{database}?{options}"

    def start(self) -> None:
        """Start the primary that was killed, as it was."""
        self.primary.start()

    def kill(self) -> None:
        self.primary.kill()

    def stop(self) -> None:
        for cluster in (self.standby, self.primary):
            cluster.stop(signal.SIGQUIT)

    def kill_standby(self, absence: float) -> None:
        """Kill the standby for so many seconds; until it is back no commit is confirmed."""
        self.standby.kill()
        threading.Event().wait(absence)
        self.standby.start()
        self._wait(self.primary, IS_FOLLOWED)

    def promote(self, *, cut_off: float = 0) -> None:
        """Kill the primary for good, let the standby take over, and make another standby.

        For so many seconds before, the standby hears nothing from the primary any more.
        """
        if cut_off:
            self._set(self.standby, "primary_conninfo", "")
            threading.Event().wait(cut_off)
        lost, self.primary = self.primary, self.standby
        lost.kill()
        self._set(self.primary, "synchronous_standby_names", "")
        _ask(self.primary, "SELECT pg_promote()")
        self._wait(self.primary, IS_PRIMARY)
        shutil.rmtree(lost.folder / "data")
        self.standby = self._join(lost.folder)

    def _join(self, folder: Path) -> Cluster:
        """Return a standby in the folder, started, which from now on confirms every commit."""
        copy_cluster(self.primary, folder)
        standby = Cluster(self.binaries, folder, fsync=True, **self._settings)
        standby.start()
        self._set(self.primary, "synchronous_standby_names", self._names)
        self._wait(self.primary, IS_FOLLOWED)
        return standby

    def _set(self, cluster: Cluster, name: str, value: str) -> None:
        statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), value)
        for each in (statement, sql.SQL("SELECT pg_reload_conf()")):
            _ask(cluster, each)

    def _wait(self, cluster: Cluster, question: LiteralString) -> None:
        """Wait until the answer is yes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not _ask(cluster, question):
            if time.monotonic() > deadline:
                raise RuntimeError(f"this never becomes true: {question}")
            time.sleep(PAUSE_SECONDS)


@contextmanager
def run_pair(
    binaries: Path, folder: Path, *, is_synchronous: bool = True, **settings: str
) -> Iterator[Pair]:
    """Run a pair in two folders below this one until the end of the context."""
    first = Cluster(binaries, folder / "postgresql", fsync=True, **settings)
    running: list[Cluster | Pair] = [first]
    first.start()
    try:
        pair = Pair(first, folder / "postgresql-2", settings, is_synchronous=is_synchronous)
        running = [pair]
        yield pair
    finally:
        running[0].stop()


def _ask(cluster: Cluster, statement: LiteralString | sql.Composed | sql.SQL) -> Any:
    """Return the first value that one of the two answers, if any."""
    with psycopg.connect(cluster.url(database="postgres"), autocommit=True) as connection:
        done = connection.execute(statement)
        row = done.fetchone() if done.description else None
    return row[0] if row else None
