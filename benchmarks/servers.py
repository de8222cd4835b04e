"""Server processes: each subject runs in its own, on a port of 127.0.0.1."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from benchmarks.machine import cpu_seconds, resident_mebibytes
from tests.ports import free_port

HOST = "127.0.0.1"
START_SECONDS = 60
THREADS = 8
# As docs/operations.md deploys it; one worker alone is measured more steadily.
DEPLOYED_WORKERS = 2
PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Server:
    """A running server, and how long it took from its start to its first answer."""

    port: int
    process: subprocess.Popen[Any]
    start_seconds: float

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def resident_mebibytes(self) -> float:
        return resident_mebibytes(self.process.pid)


def granian_command(application: str, *, workers: int = 1) -> list[str]:
    """Return the command of a WSGI server, the same for the product and its peers."""
    return [
        *(sys.executable, "-m", "benchmarks.deployed_granian"),
        *("--interface", "wsgi", "--no-ws", "--no-log"),
        *("--workers", str(workers), "--blocking-threads", str(THREADS), application),
    ]


@contextmanager
def run_server(
    command: Sequence[str], environment: Mapping[str, str], *, log: Path
) -> Iterator[Server]:
    """Run the command with a free port until the block ends."""
    port = free_port()
    begun = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  our own command
            [*command, "--host", HOST, "--port", str(port)],
            cwd=PROJECT,
            env=os.environ | dict(environment),
            stdout=output,
            stderr=output,
        )
    try:
        _wait_until_ready(process, port, log)
        yield Server(port, process, time.perf_counter() - begun)
    finally:
        process.terminate()
        process.wait()


def _wait_until_ready(process: subprocess.Popen[Any], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The server does not start:\n{log.read_text()}")
        time.sleep(0.005)


def _answers(port: int) -> bool:
    connection = HTTPConnection(HOST, port, timeout=START_SECONDS)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    return True
