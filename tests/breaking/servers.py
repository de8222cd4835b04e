"""Server processes of the service that may be killed at any moment, and come back."""

import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from config.environment import PROJECT_FOLDER
from tests.breaking.wire import LOCAL
from tests.ports import free_port
from tests.processes import find_children, kill_family, send

READY_SECONDS = 2.0
PATIENCE_SECONDS = 120
PAUSE_SECONDS = 0.2


class Server:
    """Granian at an address of its own, with the worker that it starts and replaces."""

    def __init__(
        self,
        folder: Path,
        *,
        application: str,
        environment: Mapping[str, str],
        code: Path = PROJECT_FOLDER,
    ) -> None:
        self.port = free_port()
        self.log = folder / f"server-{self.port}.log"
        self._command = _granian(self.port, application)
        self.environment = dict(environment)
        self._code = code
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as output:
            self._process: subprocess.Popen[Any] = subprocess.Popen(  # noqa: S603  our own command
                self._command,
                cwd=self._code,
                env=self.environment,
                stdout=output,
                stderr=output,
            )

    def is_ready(self) -> bool:
        caller = HTTPConnection(LOCAL, self.port, timeout=READY_SECONDS)
        with closing(caller), suppress(OSError, HTTPException):
            caller.request("GET", "/readyz")
            return caller.getresponse().read() == b"ok"
        return False

    def kill(self) -> None:
        kill_family(self._process.pid)
        self._process.wait()

    def revive(self) -> None:
        """Start again what gave up by itself, as granian does after two kills in a row."""
        if self._process.poll() is not None:
            self.start()

    def upgrade(self, code: Path) -> None:
        """End in peace, and begin anew with another tree of source code."""
        self.stop()
        self._code = code
        self.start()

    @property
    def workers(self) -> list[int]:
        """The processes that serve: one, or none while it is being replaced."""
        return find_children(self._process.pid)

    def stop(self) -> None:
        """End in peace, whatever stands still."""
        for worker in self.workers:
            send(worker, signal.SIGCONT)
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()


def wait_until_ready(servers: Sequence[Server]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    # To ask costs the service something: whoever was ready once is not asked again.
    waiting = list(servers)
    while waiting := [server for server in waiting if not server.is_ready()]:
        if time.monotonic() > deadline:
            told = "\n".join(server.log.read_text(encoding="utf-8")[-2000:] for server in servers)
            raise RuntimeError(f"A server does not become ready:\n{told}")
        for server in waiting:
            server.revive()
        time.sleep(PAUSE_SECONDS)


def _granian(port: int, application: str) -> list[str]:
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws"),
        *("--host", LOCAL, "--port", str(port)),
        *("--blocking-threads", "4", "--respawn-failed-workers", "--respawn-interval", "0"),
        *("--log-config", "deploy/granian.json", application),
    ]
