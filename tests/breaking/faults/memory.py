"""Workers that get no more memory for some seconds."""

import resource
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from typing_extensions import override

from tests.breaking.faults.fault import Deed, Fault
from tests.breaking.servers import Server

KIB, MIB = 1024, 1024**2
# What a worker may still take: nothing, or what is soon used up.
LEFT = (0, MIB, 4 * MIB)
SHORTEST_SECONDS, LONGEST_SECONDS = 1.0, 5.0
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


class MemoryFault(Fault):
    """The limit on the address space of a process that runs, set from outside (prlimit)."""

    def __init__(self) -> None:
        super().__init__()
        self._limited: dict[int, threading.Timer] = {}

    @override
    def deeds(self, servers: Sequence[Server], chance: Random) -> Mapping[str, Deed]:
        def limit() -> None:
            for worker in chance.choice(servers).workers:
                seconds = chance.uniform(SHORTEST_SECONDS, LONGEST_SECONDS)
                self._limit(worker, left=chance.choice(LEFT), seconds=seconds)

        return {"memory of a worker limited": limit}

    @override
    def calm(self) -> None:
        for worker, lifting in self._limited.items():
            lifting.cancel()
            _lift(worker)

    def _limit(self, worker: int, *, left: int, seconds: float) -> None:
        with suppress(ProcessLookupError, FileNotFoundError):
            soft = _read_size(worker) + left
            resource.prlimit(worker, resource.RLIMIT_AS, (soft, resource.RLIM_INFINITY))
            lifting = threading.Timer(seconds, _lift, [worker])
            lifting.start()
            self._limited[worker] = lifting


def _read_size(worker: int) -> int:
    """Return the address space that a process takes, in bytes."""
    pages = int(Path(f"/proc/{worker}/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _lift(worker: int) -> None:
    with suppress(ProcessLookupError):
        resource.prlimit(worker, resource.RLIMIT_AS, UNLIMITED)
