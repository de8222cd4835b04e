"""Large databases to measure in, which are kept for the next run.

A PostgreSQL server of its own keeps them under var/measured; `--server postgresql://user@host`
names another one. Of each kind of measurement there is a module, such as `lists_database`, that
fills one and measures in it. A database that was filled completely is not filled again.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from tests.postgresql import find_binaries, run_cluster

KEPT = Path("var", "measured")


@contextmanager
def serve(named: str | None) -> Iterator[str]:
    """Yield the address of a server, to be followed by the name of a database."""
    if named:
        yield named.rstrip("/") + "/"
        return
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("No PostgreSQL was found: name a server with --server.")
    KEPT.parent.mkdir(exist_ok=True)
    with run_cluster(binaries, KEPT.absolute()) as cluster:
        yield cluster.url(database="")


def make_database(server: str, size: int, *, kind: str) -> str:
    """Return the address of a database of this size; it gets this name once it is full."""
    name = f"{kind}_{size}"
    unfinished = f"{name}_unfinished"
    with psycopg.connect(server + "postgres", autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            return server + name
        connection.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(unfinished)))
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(unfinished)))
        run_inside(server + unfinished, "fill", str(size), kind=kind)
        names = Identifier(unfinished), Identifier(name)
        connection.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(*names))
    return server + name


def run_inside(url: str, *arguments: str, kind: str) -> str:
    """Return what a command of the kind prints, in a process of its own.

    The settings name one database. Raises CalledProcessError if it fails.
    """
    done = subprocess.run(  # noqa: S603  the command is ours
        [sys.executable, "-m", f"benchmarks.{kind}_database", *arguments],
        env={"SECRET_KEY": "for measuring only" * 3, **os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout
