"""What the faults of `./dev break` rest on: a pair that changes places, the release before."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from tests.breaking.faults.fault import UnavailableFaultError
from tests.breaking.faults.migrations import find_release_before
from tests.breaking.faults.pair import Pair, run_pair
from tests.postgresql import find_binaries


@pytest.fixture
def pair() -> Iterator[Pair]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("A PostgreSQL that may be killed needs binaries: PG_BIN, wheel, system.")
    with TemporaryDirectory(prefix="pair-") as folder:
        Path(folder).chmod(0o711)
        with run_pair(binaries, Path(folder)) as opened:
            yield opened


# Nothing here needs the tables: once is enough.
@pytest.mark.postgresql
def test_what_was_confirmed_outlives_each_primary(pair):
    write(pair, "CREATE TABLE kept (place integer)")
    for place in range(2):
        write(pair, f"INSERT INTO kept VALUES ({place})")
        pair.promote()

    with psycopg.connect(pair.url(database="postgres")) as connection:
        assert connection.execute("SELECT place FROM kept").fetchall() == [(0,), (1,)]


def write(pair: Pair, statement: str) -> None:
    with psycopg.connect(pair.url(database="postgres")) as connection:
        connection.execute(statement.encode())
