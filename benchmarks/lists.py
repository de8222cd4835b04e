"""Measures every tab, filter and order of the list of documents, in a database that is kept.

    python -m benchmarks.lists --documents 1000000

prints, of each filter, the page that takes longest, with its counts and totals. CASES=text measures
only the pages whose name has the text. See kept_databases.py for the server.
"""

import argparse
import sys
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from benchmarks.goals import tell_missed
from benchmarks.kept_databases import make_database, measure_inside, serve
from benchmarks.machine import describe_machine

MOST_MILLISECONDS = 50


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.lists", allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--server", metavar="URL", help="a PostgreSQL where databases may be made")
    arguments = parser.parse_args()
    sys.stdout.write(", ".join(describe_machine().values()) + "\n\n")
    with serve(arguments.server) as server:
        url = make_database(server, arguments.documents, kind="lists")
        told = measure_inside(url, kind="lists")
    sys.stdout.write("\n".join(format_table(told)) + "\n")
    slow = sum(page["milliseconds"] > MOST_MILLISECONDS for page in told["pages"])
    return tell_missed({f"at most {MOST_MILLISECONDS} ms a page, but {slow} take longer": not slow})


def format_table(told: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a table in Markdown: of each filter and reach, the slowest page."""
    slowest: dict[tuple[str, str], dict[str, Any]] = {}
    for page in sorted(told["pages"], key=itemgetter("milliseconds")):
        parts = page["case"].split(", ")
        slowest[parts[0], parts[-1]] = page
    count = len(told["pages"])
    yield f"{told['documents']:,} documents, {count} pages; the slowest of each filter:"
    yield ""
    yield "| page | rows | statements | milliseconds | blocks touched |"
    yield "|---|---|---|---|---|"
    for page in slowest.values():
        yield (
            f"| {page['case']} | {page['rows']} | {page['statements']}"
            f" | {page['milliseconds']:.1f} | {page['touched']} |"
        )


if __name__ == "__main__":
    sys.exit(main())
