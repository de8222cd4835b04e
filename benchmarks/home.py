"""Measures home and the page of a customer in a large database, which is kept for the next run.

    python -m benchmarks.home --documents 1000000

prints a line for each person and page: how many statements it takes, and the milliseconds that all
of them take in the database, planning included. A PostgreSQL server of its own keeps its database
under var/home. A database that was filled completely is not filled again.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from tests.postgresql import find_binaries, run_cluster

KEPT = Path("var", "home")
# Fewer have too few customers.
SMALLEST = 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.home", allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=1_000_000)
    documents = parser.parse_args().documents
    if documents < SMALLEST:
        parser.error(f"Measure at least {SMALLEST} documents.")
    binaries = find_binaries()
    if binaries is None:
        parser.error("No PostgreSQL was found.")
    KEPT.parent.mkdir(exist_ok=True)
    with run_cluster(binaries, KEPT.absolute()) as cluster:
        url = make_database(cluster.url(database=""), documents)
        run_inside(url, "measure")
    return 0


def make_database(server: str, documents: int) -> str:
    """Return the address of a database of so many documents; it gets this name once it is full."""
    name = f"home_{documents}"
    unfinished = f"{name}_unfinished"
    with psycopg.connect(server + "postgres", autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            return server + name
        connection.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(unfinished)))
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(unfinished)))
        run_inside(server + unfinished, "fill", str(documents))
        names = Identifier(unfinished), Identifier(name)
        connection.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(*names))
    return server + name


def run_inside(url: str, *arguments: str) -> None:
    """Run a command of home_database in a process of its own: settings name one database."""
    subprocess.run(  # noqa: S603  the command is ours
        [sys.executable, "-m", "benchmarks.home_database", *arguments],
        env={"SECRET_KEY": "for measuring only" * 3, **os.environ, "DATABASE_URL": url},
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())
