"""Connections to a cache that processes share."""

from contextlib import closing, suppress
from threading import Thread

import pytest
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from redis import DriverInfo, Redis
from redis.exceptions import ReadOnlyError

from config.shared_cache import ProcessPool
from tests.ports import free_port

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_threads_that_come_and_go_leave_no_connection_behind(shared_cache):
    held: list[BaseCache] = []

    def ask() -> None:
        cache = caches["default"]
        cache.get("nothing")
        held.append(cache)

    for _ in range(3):
        thread = Thread(target=ask)
        thread.start()
        thread.join()
    with closing(Redis.from_url(shared_cache.connection_url)) as other:
        clients = other.client_list(_type="normal")
    # That of the process, and that of the question.
    assert len(clients) == 2


def test_no_connection_is_kept_to_what_has_become_a_replica(shared_cache):
    """As after a failover: once the name leads elsewhere, so does the next connection."""
    cache = caches["default"]
    cache.set("counted", 1)
    with closing(Redis.from_url(shared_cache.connection_url)) as other:
        first, _ = other.client_list(_type="normal")
        other.replicaof("127.0.0.1", free_port())
        with suppress(ReadOnlyError):
            cache.set("counted", 2)
        assert first["id"] not in [each["id"] for each in other.client_list(_type="normal")]


def test_a_pool_is_found_again_whatever_options_django_gives_it():
    """After 5.2 it names itself in an object that cannot be the key of a cache."""
    url = "redis://127.0.0.1:1/0"
    pools = [ProcessPool.from_url(url, driver_info=DriverInfo()) for _ in range(2)]
    assert pools[0] is pools[1]
