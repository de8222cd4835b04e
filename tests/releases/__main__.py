"""Migrates the databases of all releases, and of states before 1.0.0: `python -m tests.releases`.

The test suite does it with those of releases only. Prints how many tests held, and exits with 1 if
one did not.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

from tests.environment import DATABASES
from tests.releases.kept import FOLDER


def main() -> int:
    status, counts = 0, {}
    with TemporaryDirectory() as scratch:
        for database in DATABASES:
            report = Path(scratch, f"{database}.xml")
            status |= run_tests(database, report)
            counts[database] = count_by_release(report)
    print(f"{'release':<12} {DATABASES[0]:>16} {DATABASES[1]:>16}")  # noqa: T201  a report
    for release in sorted(folder.name for folder in FOLDER.iterdir()):
        held = [counts[database].get(release, "none") for database in DATABASES]
        print(f"{release:<12} {held[0]:>16} {held[1]:>16}")  # noqa: T201  a report
    return status


def run_tests(database: str, report: Path) -> int:
    """Return 0 if all held; the report is one of JUnit's."""
    command = [sys.executable, "-m", "pytest", "--database", database, "-q", "-n", "0"]
    done = subprocess.run(  # noqa: S603  our own command
        [*command, f"--junitxml={report}", "tests/releases/test_upgrades.py"],
        env={**os.environ, "RELEASES": "all"},
        check=False,
    )
    return int(done.returncode != 0)


def count_by_release(report: Path) -> dict[str, str]:
    """Return for each release how many of its tests held: "15 of 15"."""
    ran: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):  # noqa: S314  pytest wrote it
        release = case.attrib["name"].partition("[")[2].rstrip("]")
        ran[release] += 1
        held[release] += not list(case)
    return {release: f"{held[release]} of {count}" for release, count in ran.items()}


if __name__ == "__main__":
    sys.exit(main())
