"""The clocks of the servers' machines, each of which jumps forward and back."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import psycopg
from typing_extensions import override

from tests.breaking.builds import Build
from tests.breaking.clocks import VARIABLE, set_clock
from tests.breaking.faults.fault import Database, Deed, Fault
from tests.breaking.servers import Server

# In seconds: as NTP corrects a machine, and further than an approval lasts.
OFFSETS = (-1500, -700, -2, 0, 2, 700, 1500)
# What docs/operations.md says does no harm, and what a transaction may take to commit.
TOLERATED = "5 seconds"

# When a document was last prepared is told by the clock of the database, which no server sets.
OUTLIVED = """
    WITH prepared AS (
        SELECT target, max(pg_xact_commit_timestamp(xmin)) AS at
        FROM agent_access_auditevent WHERE action = 'documents.issue_prepare' GROUP BY target
    )
    SELECT asked.id::text, extract(epoch FROM asked.expires_at - at - interval '10 minutes')::float
    FROM agent_approvals_approvalrequest AS asked
    JOIN prepared ON prepared.target = asked.target::text
    WHERE asked.expires_at > at + interval '10 minutes' + %s::interval
"""


class ClockFault(Fault):
    @override
    @contextmanager
    def prepare(self, binaries: Path, folder: Path) -> Iterator[Database]:
        self._folder = folder
        with super().prepare(binaries, folder) as database:
            yield database

    @override
    def application(self, build: Build) -> str:
        return "tests.breaking.shifted_wsgi:application"

    @override
    def environment(self, place: int) -> dict[str, str]:
        set_clock(self._clock(place), 0)
        return {VARIABLE: str(self._clock(place))}

    @override
    def deeds(self, servers: Sequence[Server], chance: Random) -> Mapping[str, Deed]:
        self._servers = servers

        def jump() -> None:
            place = chance.randrange(len(servers))
            set_clock(self._clock(place), chance.choice(OFFSETS))

        return {"clock of a server set": jump}

    @override
    def calm(self) -> None:
        for place in range(len(self._servers)):
            set_clock(self._clock(place), 0)

    @override
    def columns(self, url: str) -> Mapping[str, list[str]]:
        with psycopg.connect(url) as connection:
            found = connection.execute(OUTLIVED, [TOLERATED]).fetchall()
        cases = [f"approval {pk} was given {seconds:.0f} s more" for pk, seconds in found]
        return {"approvals that last too long": cases}

    def _clock(self, place: int) -> Path:
        return self._folder / f"clock-{place}"
