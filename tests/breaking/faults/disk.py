"""The database's disk, which is full for some seconds."""

import math
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from typing_extensions import override

from tests.breaking.faults.fault import (
    CLUSTER_SETTINGS,
    Database,
    Deed,
    Fault,
    UnavailableFaultError,
)
from tests.breaking.servers import Server
from tests.postgresql import run_cluster

BYTES = 4 * 1024**3
MIB = 1024**2
# What is left for a while: nothing, or enough for rows and not for the next file of the log.
LEFT = (0, MIB, 8 * MIB)
SHORTEST_SECONDS, LONGEST_SECONDS = 1.0, 5.0
# A new file of the log each time, which needs room, and soon: then PostgreSQL itself stops.
SETTINGS = {**CLUSTER_SETTINGS, "wal_recycle": "off", "max_wal_size": "64MB"}


class DiskFault(Fault):
    """A file system in memory, made smaller than what it would have to hold."""

    @override
    @contextmanager
    def prepare(self, binaries: Path, folder: Path) -> Iterator[Database]:
        self._disk = folder / "disk"
        self._disk.mkdir()
        _mount(self._disk, f"size={BYTES},mode=0711")
        place = self._disk / "postgresql"
        try:
            with run_cluster(binaries, place, fsync=True, **SETTINGS) as self._cluster:
                yield self._cluster
        finally:
            subprocess.run(["umount", "--lazy", self._disk], check=True)  # noqa: S603, S607  ours

    @override
    def deeds(self, servers: Sequence[Server], chance: Random) -> Mapping[str, Deed]:
        self._stops = 0

        def fill() -> None:
            self._leave(chance.choice(LEFT))
            threading.Event().wait(chance.uniform(SHORTEST_SECONDS, LONGEST_SECONDS))
            self.calm()

        return {"disk filled": fill}

    @override
    def calm(self) -> None:
        """Make room, and start what stopped for lack of it."""
        self._resize(BYTES)
        if not self._cluster.is_running:
            self._stops += 1
            self._cluster.start()

    @override
    def effects(self, servers: Sequence[Server]) -> Mapping[str, int]:
        return {"PostgreSQL stopped for want of room": self._stops}

    def _leave(self, rest: int) -> None:
        """Leave so many bytes; what is written meanwhile may be more, then it is tried again."""
        for _ in range(9):
            status = os.statvfs(self._disk)
            used = (status.f_blocks - status.f_bfree) * status.f_frsize
            if self._resize(used + rest):
                return

    def _resize(self, size: int) -> bool:
        # The kernel takes whole pages, and refuses less than is used.
        whole = math.ceil(size / os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PAGE_SIZE")
        command = ["mount", "-o", f"remount,size={whole}", str(self._disk)]
        done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603  ours
        return done.returncode == 0


def _mount(place: Path, options: str) -> None:
    """Mount a file system in memory; raise UnavailableFaultError where nobody may."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    try:
        done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603  ours
    except FileNotFoundError:
        done = None
    if done is None or done.returncode:
        raise UnavailableFaultError("A full disk needs Linux and the right to mount a tmpfs.")
