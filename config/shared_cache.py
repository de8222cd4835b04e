"""The cache that processes share; imported only if there is one, for its library loads slowly."""

from typing import Any, ClassVar

from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError
from redis.retry import Retry
from typing_extensions import override


class ProcessPool(ConnectionPool):
    """The pool of a whole process for one URL.

    Django makes a pool for each thread. WSGI servers end idle threads, and the connections that
    these leave open would wait for the garbage collector.
    """

    _pools: ClassVar[dict[str, "ProcessPool"]] = {}

    @classmethod
    @override
    def from_url(cls, url: str, **options: Any) -> "ProcessPool":
        return cls._pools.setdefault(url, super().from_url(url, **options))


# Time-outs in seconds; with the library's own a request may wait minutes when the cache is gone.
# One retry, since an idle connection may have been closed, or lead to what has become a replica.
OPTIONS = {
    "pool_class": ProcessPool,
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    "retry": Retry(NoBackoff(), 1),
    "retry_on_error": (ReadOnlyError,),
}


def shared_cache_settings(url: str) -> dict[str, object]:
    """Return the entry for CACHES."""
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "OPTIONS": OPTIONS,
    }
