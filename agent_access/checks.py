"""System checks of a project that uses agent access: its gate, cache, users and databases."""

import logging
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db.models import UUIDField

from agent_access import conf
from agent_access.tools import registry

logger = logging.getLogger(__name__)

GATE = "agent_access.gate.GateMiddleware"
# Settings of django-ratelimit that would limit nobody, each with the value that it must have.
COUNTING = {"RATELIMIT_ENABLE": True, "RATELIMIT_FAIL_OPEN": False}
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


@checks.register(checks.Tags.security)
def check_keys(**kwargs: Any) -> list[checks.CheckMessage]:
    """Refuse an unknown key in AGENT_ACCESS: the setting that it misspells keeps its default."""
    return [
        checks.Error(
            f"AGENT_ACCESS has an unknown key: {key}.",
            hint=f"Its keys are {', '.join(conf.KEYS)}.",
            id="agent_access.E007",
        )
        for key in settings.AGENT_ACCESS
        if key not in conf.KEYS
    ]


@checks.register(checks.Tags.caches)
def check_cache(**kwargs: Any) -> list[checks.CheckMessage]:
    """Limits are counted in the cache: each process of a server would count for itself."""
    alias = getattr(settings, "RATELIMIT_USE_CACHE", "default")
    backend = str(settings.CACHES[alias]["BACKEND"])
    is_local = any(f".{kind}." in backend for kind in LOCAL_CACHES)
    if not is_local or is_local_only():
        return []
    return [
        checks.Warning(
            "The limits hold within one process only, since the cache is not shared.",
            hint=f"Set {conf.cache_setting()} to Redis or Valkey before several processes serve.",
            id="agent_access.W002",
        )
    ]


@checks.register(checks.Tags.security)
def check_counting(**kwargs: Any) -> list[checks.CheckMessage]:
    """Refuse what switches django-ratelimit off: every call would be answered with 503."""
    return [
        checks.Error(
            f"{name} must be {value}: otherwise nothing is counted, and no call is let in.",
            hint=f"Remove {name} from the settings; the limits are keys of AGENT_ACCESS.",
            id="agent_access.E008",
        )
        for name, value in COUNTING.items()
        if getattr(settings, name, value) is not value
    ]


@checks.register(checks.Tags.models)
def check_user(**kwargs: Any) -> list[checks.CheckMessage]:
    """Require UUIDs: owners of connections and actors of events are stored as such."""
    if isinstance(get_user_model()._meta.pk, UUIDField):
        return []
    return [
        checks.Error(
            "The primary key of the user model must be a UUID.",
            hint="Set AUTH_USER_MODEL to a model with id = UUIDField(primary_key=True, ...).",
            id="agent_access.E002",
        )
    ]


@checks.register(checks.Tags.models)
def check_transactions(**kwargs: Any) -> list[checks.CheckMessage]:
    """Leave transactions to the calls, which on SQLite must begin them as writers (ADR 2)."""
    found: list[checks.CheckMessage] = []
    for alias, database in settings.DATABASES.items():
        if database.get("ATOMIC_REQUESTS"):
            text, hint = "ATOMIC_REQUESTS must be off.", "A refusal is written after the rollback."
            found.append(checks.Error(f"{alias}: {text}", hint=hint, id="agent_access.E003"))
        mode = str(database.get("OPTIONS", {}).get("transaction_mode")).upper()
        if database["ENGINE"].endswith(".sqlite3") and mode not in {"IMMEDIATE", "EXCLUSIVE"}:
            text = "transactions on SQLite must begin as writers."
            hint = 'Set OPTIONS: {"transaction_mode": "IMMEDIATE"}.'
            found.append(checks.Error(f"{alias}: {text}", hint=hint, id="agent_access.E004"))
    return found


@checks.register(checks.Tags.models)
def check_time_zones(**kwargs: Any) -> list[checks.CheckMessage]:
    """Require time zones: the hour that daylight saving repeats would break the audit's chains."""
    if settings.USE_TZ:
        return []
    return [checks.Error("USE_TZ must be on.", hint="USE_TZ = True", id="agent_access.E006")]


@checks.register(checks.Tags.models)
def check_scopes(**kwargs: Any) -> list[checks.CheckMessage]:
    """Require words for each scope: the owner must be able to read what it allows."""
    unsaid = set(registry.scopes) - set(conf.host().scopes())
    return [
        checks.Error(
            f"The host does not describe the scope {scope}.",
            hint="Add it to the answer of Host.scopes().",
            id="agent_access.E005",
        )
        for scope in sorted(unsaid)
    ]


def is_local_only() -> bool:
    """Tell whether the application URL is a loopback one, which no other machine reaches."""
    return urlsplit(conf.base_url()).hostname in LOOPBACK_HOSTS


def require_safe_settings() -> None:
    """Raise ImproperlyConfigured if it would be dangerous to serve; log mere warnings.

    Django runs system checks before commands; a WSGI server would start without them.
    """
    conf.host()
    for message in (*check_gate(), *check_counting(), *check_cache()):
        sentence = f"{message.msg} {message.hint}"
        if message.is_serious():
            raise ImproperlyConfigured(sentence)
        logger.warning(sentence)
