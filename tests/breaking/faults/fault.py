"""What goes wrong in a run besides the kills, and the database that it goes wrong on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import ClassVar, Protocol

from config.environment import PROJECT_FOLDER
from tests.breaking.builds import Build
from tests.breaking.evidence import Evidence
from tests.breaking.journal import Testimony
from tests.breaking.servers import Server
from tests.postgresql import run_cluster

Deed = Callable[[], None]
Column = Callable[[Evidence, Testimony], Iterator[str]]

# Without commit timestamps nobody could tell in which order numbers were committed.
CLUSTER_SETTINGS = {"track_commit_timestamp": "on"}


class UnavailableFaultError(Exception):
    """This machine cannot have the fault; the message says why, in a sentence."""


class Database(Protocol):
    """The PostgreSQL that the service stands on, which can be killed and started again."""

    binaries: Path

    def url(self, *, role: str = ..., database: str = ...) -> str: ...
    def start(self) -> None: ...
    def kill(self) -> None: ...


class Fault:
    """The kills alone. The other faults add deeds of their own, and take them back when asked."""

    # How long one company is broken before the next one is made, in seconds.
    longest = float("inf")
    # The drivers, by name, that cannot work beside it.
    without: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        # The tree of source code that makes the company and that servers begin with.
        self.code = PROJECT_FOLDER

    @contextmanager
    def prepare(self, binaries: Path, folder: Path) -> Iterator[Database]:
        """Run the database in the folder; raise UnavailableFaultError where that cannot be."""
        place = folder / "postgresql"
        with run_cluster(binaries, place, fsync=True, **CLUSTER_SETTINGS) as cluster:
            yield cluster

    def application(self, build: Build) -> str:
        return build.application

    def environment(self, place: int) -> dict[str, str]:
        """Return the variables of the server at this place."""
        return {}

    def deeds(self, servers: Sequence[Server], chance: Random) -> Mapping[str, Deed]:
        """Return what may be done besides the kills, by the words that the report has."""
        return {}

    def calm(self) -> None:
        """Take back whatever is still wrong, before the clients end their last round."""

    def effects(self, servers: Sequence[Server]) -> Mapping[str, int]:
        """Return how often something came of the fault, by the words that the report has."""
        return {}

    def columns(self, url: str) -> Mapping[str, list[str]]:
        """Return what must not be, with its cases, where only this fault could cause it."""
        return {}
