"""Measures the pages of activity with many audit events, in a database kept for the next run.

    python -m benchmarks.activity --events 1000000

prints a line for each page: how many statements it takes, and the milliseconds that all of them
take in the database, planning included. A PostgreSQL server of its own keeps its databases under
var/activity. One that was filled completely is not filled again.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from tests.postgresql import find_binaries, run_cluster

KEPT = Path("var", "activity")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.activity", allow_abbrev=False)
    parser.add_argument("--events", type=int, default=1_000_000)
    events = parser.parse_args().events
    binaries = find_binaries()
    if binaries is None:
        parser.error("No PostgreSQL was found.")
    KEPT.parent.mkdir(exist_ok=True)
    with run_cluster(binaries, KEPT.absolute()) as cluster:
        url = make_database(cluster.url(database=""), events)
        run_inside(url, "measure")
    return 0


def make_database(server: str, events: int) -> str:
    """Return the address of a database of so many events; it gets this name once it is full."""
    name = f"activity_{events}"
    unfinished = f"{name}_unfinished"
    with psycopg.connect(server + "postgres", autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            return server + name
        connection.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(unfinished)))
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(unfinished)))
        run_inside(server + unfinished, "fill", str(events))
        names = Identifier(unfinished), Identifier(name)
        connection.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(*names))
    return server + name


def run_inside(url: str, *arguments: str) -> None:
    """Run a command of activity_database in a process of its own: settings name one database."""
    subprocess.run(  # noqa: S603  the command is ours
        [sys.executable, "-m", "benchmarks.activity_database", *arguments],
        env={"SECRET_KEY": "for measuring only" * 3, **os.environ, "DATABASE_URL": url},
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())
