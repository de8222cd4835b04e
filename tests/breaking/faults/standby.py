"""A synchronous standby that takes over from its primary, and one that is away."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from typing_extensions import override

from tests.breaking.faults.fault import CLUSTER_SETTINGS, Database, Deed, Fault
from tests.breaking.faults.pair import run_pair
from tests.breaking.servers import Server

# For less and for more than clients wait at first.
LONGEST_ABSENCE_SECONDS = 4.0


class StandbyFault(Fault):
    is_synchronous = True

    @override
    @contextmanager
    def prepare(self, binaries: Path, folder: Path) -> Iterator[Database]:
        with run_pair(
            binaries, folder, is_synchronous=self.is_synchronous, **CLUSTER_SETTINGS
        ) as self._pair:
            yield self._pair

    @override
    def deeds(self, servers: Sequence[Server], chance: Random) -> Mapping[str, Deed]:
        def kill_standby() -> None:
            self._pair.kill_standby(chance.uniform(0, LONGEST_ABSENCE_SECONDS))

        def cut_off_and_promote() -> None:
            self._pair.promote(cut_off=chance.uniform(0, LONGEST_ABSENCE_SECONDS))

        return {
            "primary killed, standby promoted": self._pair.promote,
            "standby cut off, then promoted": cut_off_and_promote,
            "standby killed": kill_standby,
        }
