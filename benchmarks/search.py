"""Measures pages of search in a small and in a large database, which are kept for the next run.

    python -m benchmarks.search --small 10000 --large 1000000

prints the page that benchmarks/results/search.md keeps. See kept_databases.py for the server.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from benchmarks.found import format_page
from benchmarks.kept_databases import make_database, measure_inside, serve

KIND = "search"
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
        urls = [
            make_database(server, size, kind=KIND) for size in (arguments.small, arguments.large)
        ]
        # In turns, and the best of each, since neighbours on the machine slow one turn or another.
        turns = [[measure_inside(url, kind=KIND) for url in urls] for _ in range(TURNS)]
        small, large = (keep_best(each) for each in zip(*turns, strict=True))
    table = "\n".join(format_table(small, large))
    sys.stdout.write(format_page("python -m benchmarks.search", table))
    return 0


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
