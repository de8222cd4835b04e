"""What it costs another project to let agents in: `python -m benchmarks.host_views [CALLS]`.

One view, in one process on PostgreSQL: for an agent, for a token of Django OAuth Toolkit, as a tool
made by `tools_from`, and beside it the same tool by hand. The ways take turns in random order.
"""

import io
import json
import os
import random
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

import django

from benchmarks.host.ways import Way
from benchmarks.machine import describe_machine
from tests.postgresql import find_binaries, run_cluster

CALLS = 300
UNMEASURED = 30
SETTINGS = "benchmarks.host.settings"
HOST = "tickets.example"

keys = count()


class Taken(NamedTuple):
    seconds: float
    cpu: float


# What is compared: the first costs at most so many times the second.
COMPARED = (
    ("agent at the view", "toolkit at the view", 1.15),
    ("tools_from", "tool by hand", 1.7),
)


def call(application: Callable[..., Any], way: Way) -> Taken:
    """Send the request, as a server would; raise RuntimeError unless it succeeds."""
    sent = b"" if way.body is None else json.dumps(way.body).encode()
    environ = {
        "REQUEST_METHOD": way.method,
        "PATH_INFO": way.path,
        "SERVER_NAME": HOST,
        "SERVER_PORT": "443",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": HOST,
        "HTTP_AUTHORIZATION": f"Bearer {way.token}",
        "HTTP_IDEMPOTENCY_KEY": f"key-{next(keys)}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(sent)),
        "wsgi.url_scheme": "https",
        "wsgi.input": io.BytesIO(sent),
        "wsgi.errors": sys.stderr,
    }
    statuses: list[str] = []
    begun, cpu = perf_counter(), process_time()
    response = application(environ, lambda status, _: statuses.append(status))
    body = b"".join(response)
    response.close()
    taken = Taken(perf_counter() - begun, process_time() - cpu)
    if not statuses[0].startswith("2"):
        raise RuntimeError(f"{way.name}, {way.act}: {statuses[0]} {body.decode()}")
    return taken


def measure(calls: int) -> None:
    """Measure every way and print a table in milliseconds, then the ratios."""
    from agent_access.gate import GateApplication  # noqa: PLC0415  Django must be set up
    from benchmarks.host.prepare import prepare  # noqa: PLC0415  as above

    ways = [*prepare()]
    application = GateApplication()
    measured: dict[tuple[str, str], list[Taken]] = {(way.act, way.name): [] for way in ways}
    for number in range(UNMEASURED + calls):
        for way in random.sample(ways, len(ways)):
            taken = call(application, way)
            if number >= UNMEASURED:
                measured[way.act, way.name].append(taken)
    medians = {
        which: Taken(*(median(each) * 1000 for each in zip(*taken, strict=True)))
        for which, taken in measured.items()
    }
    say("| Act | Way | ms | CPU ms |", "|---|---|---|---|")
    for (act, name), taken in medians.items():
        say(f"| {act} | {name} | {taken.seconds:.2f} | {taken.cpu:.2f} |")
    say("", "| Act | Ratio | at most | by time | by CPU |", "|---|---|---|---|---|")
    for act in ("read", "create"):
        for upper, lower, most in COMPARED:
            one, other = medians[act, upper], medians[act, lower]
            ratios = f"{one.seconds / other.seconds:.2f} | {one.cpu / other.cpu:.2f}"
            say(f"| {act} | {upper} / {lower} | {most} | {ratios} |")


def say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    binaries = find_binaries()
    if binaries is None:
        sys.exit("PostgreSQL is not installed.")
    say(", ".join(describe_machine().values()), "")
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        with run_cluster(binaries, Path(name, "pg"), fsync=True) as cluster:
            os.environ["POSTGRESQL_FOLDER"] = str(cluster.folder)
            os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
            django.setup()
            measure(calls)


if __name__ == "__main__":
    main()
