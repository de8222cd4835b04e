"""Measures calls a second of 1, 2, 4 and 8 web processes on one PostgreSQL, and what they cost.

    python -m benchmarks.processes --seconds 10

prints of each kind of call the rate, and the processor time of the service and of PostgreSQL for
one call. As long as the service needs more than PostgreSQL, cores for it raise the rate; the last
column calculates how many calls a second one core of PostgreSQL answers, which is where another
service process no longer helps.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from benchmarks.http_client import HttpClient, format_request
from benchmarks.machine import describe_machine, spent_seconds
from benchmarks.product import APPLICATION, BASE_URL, CONNECTIONS
from benchmarks.scratch import sample_company
from benchmarks.servers import Server, granian_command, run_server
from benchmarks.subjects import make_draft_input

PROCESSES = (1, 2, 4, 8)
CLIENTS_PER_PROCESS = 2
MILLISECONDS = 1000
HEAD = """
| calls | processes | a second | ms of the service | ms of PostgreSQL | cores busy | a second of one core of PostgreSQL |
|---|---|---|---|---|---|---|"""  # noqa: E501  a row of a table
UNLIMITED = {"LIMIT_PER_CONNECTION": "1000000", "LIMIT_PER_ADDRESS": "1000000"}

MakeRequest = Callable[[int], bytes]


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.processes", allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--processes", type=int, nargs="*", default=PROCESSES)
    arguments = parser.parse_args()
    with sample_company() as cluster:
        postmaster = int((cluster.folder / "data" / "postmaster.pid").read_text().split()[0])
        kinds = make_requests()
        print(", ".join(describe_machine().values()))  # noqa: T201  the table
        print(HEAD)  # noqa: T201  as above
        for processes in arguments.processes:
            for line in measure(processes, kinds, postmaster, seconds=arguments.seconds):
                print(line, flush=True)  # noqa: T201  as above
    return 0


def make_requests() -> dict[str, tuple[MakeRequest, int]]:
    """Return what makes the next request of each kind, and the status of its answer."""
    from benchmarks.sample import Sample  # noqa: PLC0415  models can be read from here on

    sample, numbers = Sample(CONNECTIONS), count()
    body = json.dumps(make_draft_input(sample.references, lines=10)).encode()

    def make(method: str, path: str, content: bytes = b"") -> MakeRequest:
        def make_next(_: int) -> bytes:
            number = next(numbers)
            headers = {
                "Host": BASE_URL.removeprefix("https://"),
                "X-Forwarded-Proto": "https",
                "X-Forwarded-For": "127.0.0.2",
                "Authorization": f"Bearer {sample.connection(number)[1]}",
                "Idempotency-Key": f"bench-{number}",
            }
            return format_request(method, path, headers, content)

        return make_next

    return {
        "a list of 25": (make("GET", "/api/v1/documents?limit=25"), 200),
        "a draft of 10 lines": (make("POST", "/api/v1/drafts", body), 201),
    }


def measure(
    processes: int, kinds: dict[str, tuple[MakeRequest, int]], postmaster: int, *, seconds: float
) -> Iterator[str]:
    settings = UNLIMITED | {"TRUSTED_PROXIES": "1", "DATABASE_URL": os.environ["DATABASE_URL"]}
    with tempfile.TemporaryDirectory() as folder:
        command = granian_command(APPLICATION, workers=processes)
        with run_server(command, settings, log=Path(folder) / "log") as server:
            for name, (make, status) in kinds.items():
                drive(server, processes, make, status, seconds=min(seconds, 2))  # to warm up
                before = (
                    spent_seconds(server.process.pid),
                    spent_seconds(postmaster),
                    busy_seconds(),
                )
                begun = time.perf_counter()
                calls = drive(server, processes, make, status, seconds=seconds)
                lasted = time.perf_counter() - begun
                after = spent_seconds(server.process.pid), spent_seconds(postmaster), busy_seconds()
                ours, theirs, busy = (b - a for a, b in zip(before, after, strict=True))
                yield (
                    f"| {name} | {processes} | {calls / lasted:.0f}"
                    f" | {ours / calls * MILLISECONDS:.1f} | {theirs / calls * MILLISECONDS:.1f}"
                    f" | {busy / lasted:.1f} of {os.cpu_count()} | {calls / theirs:.0f} |"
                )


def drive(server: Server, processes: int, make: MakeRequest, status: int, *, seconds: float) -> int:
    """Let clients call as often as they can for so long; return how many calls were answered."""
    ends = time.perf_counter() + seconds

    def call(_: int) -> int:
        client, calls = HttpClient(server.port), 0
        while time.perf_counter() < ends:
            client.exchange(make(calls), status=status)
            calls += 1
        client.close()
        return calls

    clients = processes * CLIENTS_PER_PROCESS
    with ThreadPoolExecutor(clients) as threads:
        return sum(threads.map(call, range(clients)))


def busy_seconds() -> float:
    """Return how long all cores together were busy since the machine began."""
    user, nice, system, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
