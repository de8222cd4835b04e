"""Workers that have no memory left for some seconds."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from typing_extensions import override

from tests.breaking.builds import Build
from tests.breaking.faults.fault import Database, Deed, Fault
from tests.breaking.hunger import VARIABLE, make_hungry
from tests.breaking.servers import Server

SHORTEST_SECONDS, LONGEST_SECONDS = 0.5, 5.0
# What Python says, and what Rust says before it ends the process.
SIGNS = ("MemoryError", "memory allocation of")


class MemoryFault(Fault):
    """A thread within the worker takes it all, so that all others fail wherever they are."""

    @override
    @contextmanager
    def prepare(self, binaries: Path, folder: Path) -> Iterator[Database]:
        self._folder = folder
        with super().prepare(binaries, folder) as database:
            yield database

    @override
    def application(self, build: Build) -> str:
        return "tests.breaking.hungry_wsgi:application"

    @override
    def environment(self, place: int) -> dict[str, str]:
        # With an arena of its own (glibc) each thread would keep what nobody can take.
        return {VARIABLE: str(self._file(place)), "MALLOC_ARENA_MAX": "1"}

    @override
    def deeds(self, servers: Sequence[Server], chance: Random) -> Mapping[str, Deed]:
        def take_memory() -> None:
            seconds = chance.uniform(SHORTEST_SECONDS, LONGEST_SECONDS)
            make_hungry(self._file(chance.randrange(len(servers))), seconds)

        return {"memory of a worker taken": take_memory}

    @override
    def effects(self, servers: Sequence[Server]) -> Mapping[str, int]:
        logs = [server.log.read_text(encoding="utf-8", errors="replace") for server in servers]
        return {
            "lines that tell of no memory": sum(log.count(sign) for log in logs for sign in SIGNS)
        }

    def _file(self, place: int) -> Path:
        return self._folder / f"hunger-{place}"
