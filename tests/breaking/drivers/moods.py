"""How a server that is not ours behaves: it answers, is busy, hangs, or lies."""

import threading
from collections.abc import Mapping
from enum import StrEnum
from random import Random


class Mood(StrEnum):
    WELL = "took it and said so"
    BUSY = "was busy"
    HANGS = "did not answer"
    LIES = "took it and refused it"
    DROPS = "took it and closed the connection"


# In all moods but these the message does not get anywhere.
TAKES = frozenset({Mood.WELL, Mood.LIES, Mood.DROPS})
LIKELY: Mapping[Mood, float] = {
    Mood.WELL: 0.6,
    Mood.BUSY: 0.15,
    Mood.HANGS: 0.05,
    Mood.LIES: 0.1,
    Mood.DROPS: 0.1,
}


class Moods:
    """Changes with each call, until it is to be calm."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._lock = threading.Lock()
        self._is_calm = False

    def calm(self) -> None:
        self._is_calm = True

    def choose(self) -> Mood:
        with self._lock:
            if self._is_calm:
                return Mood.WELL
            return self._chance.choices(list(LIKELY), list(LIKELY.values()))[0]
