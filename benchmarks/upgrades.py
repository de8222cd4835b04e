"""Measures the upgrade of a large company from each release, on PostgreSQL, and the way back.

    python -m benchmarks.upgrades --documents 1000000

restores the kept database of each release (`tests/releases/kept`), multiplies its invoices by SQL,
migrates it to this version, and prints the page that benchmarks/results/upgrades.md keeps. `--back`
also takes a backup before the migration and restores it; it copies the words of searches too, which
are most of a backup. The server and its data are under var/upgrades, and gone afterwards.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
from tqdm import tqdm

from benchmarks.enlarging import enlarge
from benchmarks.found import format_page
from tests.environment import SETTINGS
from tests.postgresql import Cluster, find_binaries, run_cluster
from tests.releases.kept import FOLDER, Release

PLACE = Path("var", "upgrades")
APPLIED = re.compile(r"Applying (\S+)\.\.\. OK \(([0-9.]+)s\)")
# As the command names each migration that took longer.
WORTH_NAMING_SECONDS = 1.0
# What a production server of this size would have: the rest as PostgreSQL comes.
SERVER = {"max_wal_size": "4GB", "maintenance_work_mem": "256MB", "shared_buffers": "1GB"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.upgrades", allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--release", action="append", help="one of the kept, several times; or all")
    parser.add_argument("--back", action="store_true", help="also measure a backup and its restore")
    asked = parser.parse_args()
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("No PostgreSQL was found (PG_BIN, wheel, system).")
    releases = asked.release or sorted(folder.name for folder in FOLDER.iterdir())
    PLACE.parent.mkdir(exist_ok=True)
    try:
        with run_cluster(binaries, PLACE.absolute(), fsync=True, **SERVER) as cluster:
            told = [
                measure(cluster, name, asked.documents, with_way_back=asked.back)
                for name in tqdm(releases, desc="Releases", disable=None)
            ]
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)
    table = "\n".join(format_table(told))
    sys.stdout.write(format_page("python -m benchmarks.upgrades", table))
    return 0


def measure(cluster: Cluster, name: str, documents: int, *, with_way_back: bool) -> dict[str, Any]:
    """Return what the upgrade of one release took, in seconds, and of how many rows."""
    database = f"release_{re.sub(r'[^0-9a-z]', '_', name)}"
    use(cluster, f"CREATE DATABASE {database}")
    url = cluster.url(database=database)
    Release(name, "postgresql").restore_into_server(url)
    rows = enlarge(url, documents, with_words=with_way_back)
    told = {"release": name, **rows}
    if with_way_back:
        told |= back_up(cluster, url)
    began = time.monotonic()
    printed = migrate(url)
    told["seconds"] = time.monotonic() - began
    told["migrations"] = [(each, float(took)) for each, took in APPLIED.findall(printed)]
    use(cluster, f"DROP DATABASE {database}")
    return told


def migrate(url: str) -> str:
    """Return what `manage.py migrate` prints, with the seconds of each migration."""
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "2", "--no-color"],
        env={**os.environ, **SETTINGS, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def back_up(cluster: Cluster, url: str) -> dict[str, float]:
    """Return the seconds of a backup and of its restore, and its size in MB."""
    file = cluster.folder / "books.dump"
    dump = ["pg_dump", "--format=custom", f"--dbname={url}", f"--file={file}"]
    saved = timed(cluster, dump)
    use(cluster, "CREATE DATABASE restored")
    restored = cluster.url(database="restored")
    restore = ["pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={restored}"]
    told = {"backup": saved, "restore": timed(cluster, [*restore, str(file)])}
    told["megabytes"] = file.stat().st_size / 1e6
    use(cluster, "DROP DATABASE restored")
    file.unlink()
    return told


def timed(cluster: Cluster, command: Sequence[str]) -> float:
    began = time.monotonic()
    program, *arguments = command
    subprocess.run([cluster.binaries / program, *arguments], check=True)  # noqa: S603  PostgreSQL's
    return time.monotonic() - began


def use(cluster: Cluster, statement: str) -> None:
    with psycopg.connect(cluster.url(database="postgres"), autocommit=True) as connection:
        connection.execute(statement.encode())


def format_table(told: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| from | documents | audit events | migrate | of which longest | backup | restore |"
    yield "|---|---|---|---|---|---|---|"
    for each in told:
        slow = [pair for pair in each["migrations"] if pair[1] >= WORTH_NAMING_SECONDS]
        slow.sort(key=lambda pair: -pair[1])
        longest = ", ".join(f"{name} {took:.1f} s" for name, took in slow) or "none above a second"
        backup, restore = "not measured", "not measured"
        if "backup" in each:
            backup = f"{each['backup']:.0f} s, {each['megabytes']:,.0f} MB"
            restore = f"{each['restore']:.0f} s"
        yield (
            f"| {each['release']} | {each['documents']:,} | {each['events']:,}"
            f" | {each['seconds']:.1f} s | {longest} | {backup} | {restore} |"
        )


if __name__ == "__main__":
    sys.exit(main())
