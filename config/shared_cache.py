"""How a cache that processes share is asked; a start without one does not wait for its library."""

from typing import Any, ClassVar

from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError
from redis.retry import Retry
from typing_extensions import override


class ProcessPool(ConnectionPool):
    """The connections of a whole process to one server.

    Django makes a pool for each thread. A server ends threads that lie idle, and what they leave
    open would wait for the collector.
    """

    _pools: ClassVar[dict[str, "ProcessPool"]] = {}

    @classmethod
    @override
    def from_url(cls, url: str, **options: Any) -> "ProcessPool":
        return cls._pools.setdefault(url, super().from_url(url, **options))


# The library's own choice holds a request for minutes when the cache is gone. One more try, since
# a connection that lay idle may have been closed, or lead to what has become a replica.
OPTIONS = {
    "pool_class": ProcessPool,
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    "retry": Retry(NoBackoff(), 1),
    "retry_on_error": (ReadOnlyError,),
}


def shared_cache_settings(url: str) -> dict[str, object]:
    """Return the shared cache as Django's settings name one."""
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "OPTIONS": OPTIONS,
    }
