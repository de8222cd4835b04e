"""System checks of a project that uses agent access: its gate, cache, users and databases."""

import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured

from agent_access import conf
from agent_access.keys import user_key_kind
from agent_access.tools import registry

Found = Iterator[checks.CheckMessage]

logger = logging.getLogger(__name__)

GATE = "agent_access.gate.GateMiddleware"
# Settings of django-ratelimit that would limit nobody, each with the value that it must have.
COUNTING = {"RATELIMIT_ENABLE": True, "RATELIMIT_FAIL_OPEN": False}
LOCAL_CACHES = ("locmem", "dummy", "filebased", "db")
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


@checks.register(checks.Tags.security)
def check_gate(**kwargs: Any) -> Found:
    if next(iter(settings.MIDDLEWARE), None) != GATE:
        hint = f"Put {GATE} at the beginning of MIDDLEWARE."
        yield _error("E001", "The gate must be the first middleware.", hint)


@checks.register(checks.Tags.security)
def check_keys(**kwargs: Any) -> Found:
    """Refuse an unknown key in AGENT_ACCESS: the setting that it misspells keeps its default."""
    hint = f"Its keys are {', '.join(conf.KEYS)}."
    for key in settings.AGENT_ACCESS:
        if key not in conf.KEYS:
            yield _error("E007", f"AGENT_ACCESS has an unknown key: {key}.", hint)


@checks.register(checks.Tags.caches)
def check_cache(**kwargs: Any) -> Found:
    """Limits are counted in the cache: each process of a server would count for itself."""
    alias = getattr(settings, "RATELIMIT_USE_CACHE", "default")
    backend = str(settings.CACHES[alias]["BACKEND"])
    is_local = any(f".{kind}." in backend for kind in LOCAL_CACHES)
    if is_local and not is_local_only():
        yield checks.Warning(
            "The limits hold within one process only, since the cache is not shared.",
            hint=f"Set {conf.cache_setting()} to Redis or Valkey before several processes serve.",
            id="agent_access.W002",
        )


@checks.register(checks.Tags.security)
def check_counting(**kwargs: Any) -> Found:
    """Refuse what switches django-ratelimit off: every call would be answered with 503."""
    for name, value in COUNTING.items():
        if getattr(settings, name, value) is not value:
            text = f"{name} must be {value}: otherwise nothing is counted, and no call is let in."
            hint = f"Remove {name} from the settings; the limits are keys of AGENT_ACCESS."
            yield _error("E008", text, hint)


@checks.register(checks.Tags.models)
def check_user(**kwargs: Any) -> Found:
    """Require UUIDs or integers: whoever approves or acts is stored as a UUID (`keys`)."""
    if user_key_kind() is None:
        hint = "Set AUTH_USER_MODEL to a model with one of them as its primary key."
        yield _error(
            "E002", "The primary key of the user model must be a UUID or an integer.", hint
        )


@checks.register(checks.Tags.models)
def check_transactions(**kwargs: Any) -> Found:
    """Leave transactions to the calls, which on SQLite must begin them as writers (ADR 2)."""
    for alias, database in settings.DATABASES.items():
        if database.get("ATOMIC_REQUESTS"):
            hint = "A refusal is written after the rollback."
            yield _error("E003", f"{alias}: ATOMIC_REQUESTS must be off.", hint)
        mode = str(database.get("OPTIONS", {}).get("transaction_mode")).upper()
        if database["ENGINE"].endswith(".sqlite3") and mode not in {"IMMEDIATE", "EXCLUSIVE"}:
            hint = 'Set OPTIONS: {"transaction_mode": "IMMEDIATE"}.'
            yield _error("E004", f"{alias}: transactions on SQLite must begin as writers.", hint)


@checks.register(checks.Tags.models)
def check_time_zones(**kwargs: Any) -> Found:
    """Require time zones: the hour that daylight saving repeats would break the audit's chains."""
    if not settings.USE_TZ:
        yield _error("E006", "USE_TZ must be on.", "USE_TZ = True")


@checks.register(checks.Tags.models)
def check_scopes(**kwargs: Any) -> Found:
    """Require words for each scope: the owner must be able to read what it allows."""
    for scope in sorted(set(registry.scopes) - set(conf.policy().scopes())):
        text = f"The policy does not describe the scope {scope}."
        yield _error("E005", text, "Add it to the answer of Policy.scopes().")


def _error(number: str, text: str, hint: str) -> checks.Error:
    return checks.Error(text, hint=hint, id=f"agent_access.{number}")


def is_local_only() -> bool:
    """Return whether the application URL is a loopback one, which no other machine reaches."""
    return urlsplit(conf.base_url()).hostname in LOOPBACK_HOSTS


def require_safe_settings() -> None:
    """Raise ImproperlyConfigured if it would be dangerous to serve; log mere warnings.

    Django runs system checks before commands; a WSGI server would start without them.
    """
    conf.policy()
    for message in (*check_gate(), *check_counting(), *check_cache()):
        sentence = f"{message.msg} {message.hint}"
        if message.is_serious():
            raise ImproperlyConfigured(sentence)
        logger.warning(sentence)
