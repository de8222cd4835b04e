"""Large databases to measure in, which are kept for the next run.

A PostgreSQL server of its own keeps them under var/measured; `--server postgresql://user@host`
names another one. A database that was filled completely is not filled again: delete the folder for
its room, some 4 GB for lists, home and activity with a million each. inside.py has the kinds.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
        _run_inside(server + unfinished, kind, "fill", str(size))
        names = Identifier(unfinished), Identifier(name)
        connection.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(*names))
    return server + name


def measure_inside(url: str, *, kind: str) -> Any:
    """Return what was measured in the database; raises CalledProcessError."""
    return json.loads(_run_inside(url, kind, "measure"))


def _run_inside(url: str, *arguments: str) -> str:
    """Return what inside.py prints, in a process of its own, since settings name one database."""
    done = subprocess.run(  # noqa: S603  the command is ours
        [sys.executable, "-m", "benchmarks.inside", *arguments],
        env={"SECRET_KEY": "for measuring only" * 3, **os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout
