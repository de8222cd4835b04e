"""What every driver has, and what it is told of the place where it works."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import psycopg

from tests.breaking.builds import VARIABLE, Build
from tests.breaking.caller import GivenUpError
from tests.breaking.drivers.diary import Diary
from tests.breaking.drivers.outside import Outside
from tests.breaking.servers import Server

Found = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Site:
    """The service as drivers see it; `facts` are those of the company.

    `environment` returns the variables with which commands of the service are run. What people and
    programs are given that must be in no log is in `heard`, each secret behind what it is.
    """

    servers: Sequence[Server]
    facts: Mapping[str, Any]
    folder: Path
    outside: Outside
    environment: Callable[[], dict[str, str]]
    seed: int
    build: Build = Build.SOUND
    is_killing: bool = True
    heard: set[tuple[str, str]] = field(default_factory=set)
    enough: threading.Event = field(default_factory=threading.Event)
    given_up: threading.Event = field(default_factory=threading.Event)

    def chance(self, who: str) -> Random:
        return Random(f"{self.seed} {who}")  # noqa: S311  choices, no secrets

    def diary(self, who: str) -> Diary:
        return Diary(self.folder / f"{who}.diary")

    def pause(self, seconds: float) -> None:
        """Wait; raise GivenUpError where the run is over and nothing more will be answered."""
        if self.given_up.wait(seconds):
            raise GivenUpError

    def variables(self) -> dict[str, str]:
        return self.environment() | {VARIABLE: self.build}


class Driver:
    """Does something again and again, in so many threads, until it is enough.

    After each time it rests, so many times as long as that took: agents have most of the machine,
    however much there is to take out or to verify by and by.
    """

    name: ClassVar[str]
    threads: ClassVar[int] = 1
    rests: ClassVar[float] = 3

    def __init__(self, site: Site) -> None:
        self.site = site
        self.chance = site.chance(self.name)
        self.diary = site.diary(self.name)

    def prepare(self) -> None:
        """Do what is done once, while nothing is disturbed yet."""

    def work(self) -> None:
        """Do it once."""

    def calm(self) -> None:
        """Disturb nothing any more."""

    def settle(self) -> None:
        """Do what is left to do, now that nothing is disturbed any more."""

    def close(self) -> None:
        """End what was started."""
        self.diary.close()

    def find(self, database: "psycopg.Connection[Any]") -> Found:
        """Return the columns, each with a sentence for every case."""
        raise NotImplementedError

    def counts(self) -> Mapping[str, int]:
        """Return how much was done."""
        return {}
