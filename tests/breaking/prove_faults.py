"""The faults of `./dev break` find out what could not bear them; minutes, so of no ordinary run.

`python -m pytest tests/breaking/prove_faults.py --database postgresql` runs them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from tests.breaking.builds import Build
from tests.breaking.faults.clock import ClockFault
from tests.breaking.faults.fault import Fault
from tests.breaking.faults.pair import Pair, run_pair
from tests.breaking.faults.standby import StandbyFault
from tests.breaking.grounds import Grounds, open_grounds
from tests.breaking.run import Plan, break_service
from tests.postgresql import find_binaries

pytestmark = pytest.mark.postgresql

CLIENTS = 6
SECONDS = 40


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a folder that the account of PostgreSQL may pass."""
    with TemporaryDirectory(prefix="breaking-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@contextmanager
def open_pair(folder: Path) -> Iterator[Pair]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("A PostgreSQL that may be killed needs binaries: PG_BIN, wheel, system.")
    with run_pair(binaries, folder) as pair:
        yield pair


def test_what_was_confirmed_outlives_each_primary():
    with scratch() as folder, open_pair(folder) as pair:
        write(pair, "CREATE TABLE kept (place serial, said text)")
        for _ in range(2):
            write(pair, "INSERT INTO kept (said) VALUES ('confirmed')")
            pair.promote()

        with psycopg.connect(pair.url(database="postgres")) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchall() == [(2,)]


def write(pair: Pair, statement: str) -> None:
    with psycopg.connect(pair.url(database="postgres")) as connection:
        connection.execute(statement.encode())


def test_a_standby_that_confirms_nothing_loses_writes():
    class Hasty(StandbyFault):
        is_synchronous = False

    with open_grounds_of(Hasty()) as grounds:
        report = break_service(grounds, Plan(seconds=SECONDS), progress=ignore)

    assert report.counts["losses"] > 0


def test_approvals_by_the_clock_of_each_machine_last_too_long():
    with open_grounds_of(ClockFault()) as grounds:
        plan = Plan(seconds=SECONDS, build=Build.MACHINES_CLOCK)
        report = break_service(grounds, plan, progress=ignore)

    assert report.counts["approvals that last too long"] > 0
    assert report.counts["numbers out of order"] > 0


@contextmanager
def open_grounds_of(fault: Fault) -> Iterator[Grounds]:
    with scratch() as folder, open_grounds(folder, clients=CLIENTS, fault=fault) as grounds:
        yield grounds


def ignore(passed: float, rounds: int) -> None:
    """Show nobody how far it is."""
