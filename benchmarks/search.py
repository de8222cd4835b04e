"""Measures pages of search in a small and in a large database, which are kept for the next run.

    python -m benchmarks.search --small 10000 --large 1000000

prints the table that benchmarks/results/search.md keeps. A PostgreSQL server of its own keeps its
databases under var/search; `--server postgresql://user@host` names another one. A database that was
filled completely is not filled again.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from tests.postgresql import find_binaries, run_cluster

KEPT = Path("var", "search")
TURNS = 6
LARGEST_RATIO, MOST_MILLISECONDS = 2, 2
# Fewer have too few customers for every kind of search.
SMALLEST = 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.search", allow_abbrev=False)
    parser.add_argument("--small", type=int, default=10_000, metavar="DOCUMENTS")
    parser.add_argument("--large", type=int, default=1_000_000, metavar="DOCUMENTS")
    parser.add_argument("--server", metavar="URL", help="a PostgreSQL where databases may be made")
    arguments = parser.parse_args()
    if min(arguments.small, arguments.large) < SMALLEST:
        parser.error(f"Measure at least {SMALLEST} documents.")
    with serve(arguments.server) as server:
        urls = [make_database(server, size) for size in (arguments.small, arguments.large)]
        # In turns, and the best of each, since neighbours on the machine slow one turn or another.
        turns = [[json.loads(run_inside(url, "measure")) for url in urls] for _ in range(TURNS)]
        small, large = (keep_best(each) for each in zip(*turns, strict=True))
    sys.stdout.write("\n".join(format_table(small, large)) + "\n")
    return 0


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


def make_database(server: str, documents: int, *, kind: str = "search") -> str:
    """Return the address of a database of so many documents; it gets this name once it is full."""
    name = f"{kind}_{documents}"
    unfinished = f"{name}_unfinished"
    with psycopg.connect(server + "postgres", autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount:
            return server + name
        connection.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(unfinished)))
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(unfinished)))
        run_inside(server + unfinished, "fill", str(documents), kind=kind)
        names = Identifier(unfinished), Identifier(name)
        connection.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(*names))
    return server + name


def run_inside(url: str, *arguments: str, kind: str = "search") -> str:
    """Run a command of search_database, or of another kind of measurement, in its own process.

    The settings name one database.
    """
    done = subprocess.run(  # noqa: S603  the command is ours
        [sys.executable, "-m", f"benchmarks.{kind}_database", *arguments],
        env={"SECRET_KEY": "for measuring only" * 3, **os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def keep_best(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what was measured of one database, with the shortest time of each page."""
    pages = zip(*(turn["pages"] for turn in turns), strict=True)
    best = [min(page, key=itemgetter("milliseconds")) for page in pages]
    return {**turns[0], "pages": best}


def format_table(small: dict[str, Any], large: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, one page of search a line."""
    sizes = " | ".join(f"{each['documents']:,} documents" for each in (small, large))
    yield f"| page | rows | statements | {sizes} | ratio | blocks touched | within the goal |"
    yield "|---|---|---|---|---|---|---|---|"
    for before, after in zip(small["pages"], large["pages"], strict=True):
        ratio = after["milliseconds"] / before["milliseconds"]
        is_within = ratio <= LARGEST_RATIO and after["milliseconds"] <= MOST_MILLISECONDS
        yield (
            f"| {after['case']} | {after['rows']} | {after['statements']}"
            f" | {before['milliseconds']:.2f} ms | {after['milliseconds']:.2f} ms"
            f" | {ratio:.1f} | {before['touched']}, {after['touched']}"
            f" | {'yes' if is_within else '**no**'} |"
        )


if __name__ == "__main__":
    sys.exit(main())
