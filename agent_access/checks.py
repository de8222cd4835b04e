"""What `manage.py check` says of a project that uses agent access in a dangerous way."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks

from agent_access import conf

GATE = "agent_access.gate.GateMiddleware"
LOCAL_CACHES = ("locmem", "dummy", "filebased", "db")
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


@checks.register(checks.Tags.security)
def check_gate(**kwargs: Any) -> list[checks.CheckMessage]:
    if next(iter(settings.MIDDLEWARE), None) == GATE:
        return []
    return [
        checks.Error(
            "The gate must be the first middleware.",
            hint=f"Put {GATE} at the beginning of MIDDLEWARE.",
            id="agent_access.E001",
        )
    ]


@checks.register(checks.Tags.caches)
def check_cache(**kwargs: Any) -> list[checks.CheckMessage]:
    """Limits are counted in the cache: each process of a server would count for itself."""
    backend = str(settings.CACHES["default"]["BACKEND"])
    is_local = any(f".{kind}." in backend for kind in LOCAL_CACHES)
    if not is_local or urlsplit(conf.base_url()).hostname in LOOPBACK_HOSTS:
        return []
    return [
        checks.Warning(
            "The limits hold within one process only, since the cache is not shared.",
            hint="Set CACHE_URL to a Redis or Valkey address before more than one process serves.",
            id="agent_access.W002",
        )
    ]
