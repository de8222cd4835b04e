"""The cache that processes share; imported only if there is one, for its library loads slowly."""

import re
from typing import Any, ClassVar
from urllib.parse import urlsplit

from redis import ConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, RedisError
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


def is_understood(url: str) -> bool:
    """Return whether the library accepts the URL with our options; opens no connection.

    By itself it complains only when it first connects, and passes over a database like "/x".
    """
    options = {name: value for name, value in OPTIONS.items() if name != "pool_class"}
    try:
        ConnectionPool.from_url(url, **options).make_connection()
    except (AttributeError, RedisError, TypeError, ValueError):
        return False
    return re.fullmatch("/?[0-9]*", urlsplit(url).path, re.ASCII) is not None


def shared_cache_settings(url: str) -> dict[str, object]:
    """Return the entry for CACHES."""
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "OPTIONS": OPTIONS,
    }
