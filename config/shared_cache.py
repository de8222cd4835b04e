"""How a cache that processes share is asked; a start without one does not wait for its library."""

from redis.backoff import NoBackoff
from redis.retry import Retry

# The library's own choice holds a request for minutes when the cache is gone. One more try, since
# a connection that lay idle may have been closed.
OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    "retry": Retry(NoBackoff(), 1),
}


def describe_cache(url: str) -> dict[str, object]:
    """Return the shared cache as Django's settings name one."""
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "OPTIONS": OPTIONS,
    }
