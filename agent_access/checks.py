"""System checks of a project that uses agent access: its gate, cache, users and databases."""

import logging
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections, router
from django.db.models import Model

from agent_access import conf
from agent_access.database.triggers import VENDORS
from agent_access.keys import user_key_kind
from agent_access.tools import registry

Found = Iterator[checks.CheckMessage]

logger = logging.getLogger(__name__)

GATE = "agent_access.gate.GateMiddleware"
# Settings of django-ratelimit that would limit nobody, each with the value that it must have.
COUNTING = {"RATELIMIT_ENABLE": True, "RATELIMIT_FAIL_OPEN": False}
LOCAL_CACHES = ("locmem", "filebased", "db")
# As browsers write an address: an internationalised host in its ASCII form.
BASE_URL = re.compile(
    r"https://(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(?P<port>[1-9][0-9]{0,4}))?"
)
HTTPS_PORT, MAX_PORT = 443, 65_535
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
    for key in getattr(settings, "AGENT_ACCESS", {}):
        if key not in conf.KEYS:
            yield _error("E007", f"AGENT_ACCESS has an unknown key: {key}.", hint)


@checks.register(checks.Tags.security)
def check_base_url(**kwargs: Any) -> Found:
    """Refuse an address that no request can have: the gate compares its host letter by letter."""
    base_url = str(getattr(settings, "AGENT_ACCESS", {}).get("BASE_URL", ""))
    found = BASE_URL.fullmatch(base_url)
    if found is None or not _is_port(found["port"]):
        hint = (
            "Set it in AGENT_ACCESS to https, the host in lower case, and a port if it is not 443,"
            " with nothing after it: https://support.example."
        )
        yield _error("E009", "BASE_URL is not an address at which agents can call.", hint)


def _is_port(digits: str | None) -> bool:
    """Return whether a port may stand in BASE_URL: the default one of https is left out."""
    return digits is None or (int(digits) <= MAX_PORT and int(digits) != HTTPS_PORT)


@checks.register(checks.Tags.caches)
def check_cache(**kwargs: Any) -> Found:
    """Limits are counted in the cache: each process of a server would count for itself."""
    alias = getattr(settings, "RATELIMIT_USE_CACHE", "default")
    backend = str(settings.CACHES.get(alias, {}).get("BACKEND", ""))
    if not backend or ".dummy." in backend:
        hint = f"Let {conf.cache_setting()} have an entry {alias} that keeps what it is given."
        yield _error("E012", f"The cache {alias} counts nothing, so no call is let in.", hint)
        return
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
    """Require transactions that begin as writers on SQLite, as calls need them (ADR 2)."""
    database = connections[DEFAULT_DB_ALIAS]
    mode = str(database.settings_dict["OPTIONS"].get("transaction_mode")).upper()
    if database.vendor == "sqlite" and mode not in {"IMMEDIATE", "EXCLUSIVE"}:
        hint = 'Set OPTIONS: {"transaction_mode": "IMMEDIATE"}.'
        yield _error("E004", "Transactions on SQLite must begin as writers.", hint)


@checks.register(checks.Tags.models)
def check_vendor(**kwargs: Any) -> Found:
    """Require a database whose triggers keep the audit, and whose locks the calls know."""
    vendor = connections[DEFAULT_DB_ALIAS].vendor
    if vendor not in VENDORS:
        hint = "Let DATABASES have one of them as default."
        yield _error("E010", f"Agent access needs PostgreSQL or SQLite, not {vendor}.", hint)


@checks.register(checks.Tags.models)
def check_routers(**kwargs: Any) -> Found:
    """Require one database: a call reads and writes in one transaction, also by SQL of its own."""
    own = [each for each in apps.get_app_configs() if each.name.split(".")[0] == "agent_access"]
    needed: list[type[Model]] = [model for app in own for model in app.get_models()]
    needed += [get_user_model(), Permission]
    for model in needed:
        homes = {router.db_for_read(model), router.db_for_write(model)}
        if homes != {DEFAULT_DB_ALIAS}:
            hint = (
                "Let DATABASE_ROUTERS leave it, for reading and writing, in the default database."
            )
            label = model._meta.label
            yield _error("E011", f"{label} is not read and written in the default database.", hint)


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
    for message in (*check_gate(), *check_base_url(), *check_counting(), *check_cache()):
        sentence = f"{message.msg} {message.hint}"
        if message.is_serious():
            raise ImproperlyConfigured(sentence)
        logger.warning(sentence)
