"""Measures home and the page of a customer in a large database, which is kept for the next run.

    python -m benchmarks.home --documents 1000000

prints a line for each person and page: how many statements it takes, and the milliseconds that all
of them take in the database, planning included. See kept_databases.py for the server.
"""

import argparse
import sys

from benchmarks.kept_databases import make_database, measure_inside, serve
from benchmarks.machine import describe_machine

KIND = "home"
# Fewer have too few customers.
SMALLEST = 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.home", allow_abbrev=False)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--server", metavar="URL", help="a PostgreSQL where databases may be made")
    arguments = parser.parse_args()
    if arguments.documents < SMALLEST:
        parser.error(f"Measure at least {SMALLEST} documents.")
    sys.stdout.write(", ".join(describe_machine().values()) + "\n\n")
    with serve(arguments.server) as server:
        url = make_database(server, arguments.documents, kind=KIND)
        sys.stdout.write("\n- ".join(measure_inside(url, kind=KIND)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
