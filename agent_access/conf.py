"""What a project sets in its `AGENT_ACCESS` setting."""

from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from agent_access.policy import Policy

DEFAULTS: dict[str, Any] = {
    "POLICY": "agent_access.policy.Policy",
    "GUARDS_WHOLE_SITE": False,
    "TRUSTED_PROXIES": 0,
    "LIMIT_PER_CONNECTION": 60,
    "LIMIT_PER_ADDRESS": 60,
    "LIMIT_REGISTER": 10,
    "LIMIT_TOKEN": 30,
    "CACHE_SETTING": "CACHES",
    "WEB_PUSH_KEY": "",
    "MAIL_FROM": "",
    "STAMP_URL": "",
    "REACHES_LOOPBACK": False,
    "RAISE_UNFORESEEN": False,
}
KEYS = ("BASE_URL", *DEFAULTS)


def _setting(name: str) -> Any:
    try:
        chosen = settings.AGENT_ACCESS
        return chosen[name] if name in chosen else DEFAULTS[name]
    except KeyError:
        raise ImproperlyConfigured(f"AGENT_ACCESS needs {name}.") from None


def base_url() -> str:
    """Return the one application URL: https, host, optional port, nothing after it."""
    return str(_setting("BASE_URL"))


def guards_whole_site() -> bool:
    """Return whether pages, too, answer at BASE_URL only, and are never stored."""
    return bool(_setting("GUARDS_WHOLE_SITE"))


def trusted_proxies() -> int:
    """Return how many proxies stand in front, each adding to X-Forwarded-For and -Proto."""
    return int(_setting("TRUSTED_PROXIES"))


def limit_per_connection() -> int:
    """Return the requests that one connection may make in a minute."""
    return int(_setting("LIMIT_PER_CONNECTION"))


def limit_per_address() -> int:
    """Return the requests that one client address may make in a minute."""
    return int(_setting("LIMIT_PER_ADDRESS"))


def limit_register() -> int:
    """Return the OAuth registrations that one client address may make in a minute."""
    return int(_setting("LIMIT_REGISTER"))


def limit_token() -> int:
    """Return the token and revocation requests, together, of one client address in a minute."""
    return int(_setting("LIMIT_TOKEN"))


def cache_setting() -> str:
    """Return the name under which operators of the project set the cache."""
    return str(_setting("CACHE_SETTING"))


def web_push_key() -> str:
    """Return the private key that push services know this service by, or an empty text for none.

    It is a number of 32 bytes, in base64 for URLs.
    """
    return str(_setting("WEB_PUSH_KEY"))


def mail_from() -> str:
    """Return the address that notifications are sent from; empty if none are sent by mail."""
    return str(_setting("MAIL_FROM"))


def tells_people() -> bool:
    """Return whether there is any way in which people can be told what waits for them."""
    return bool(web_push_key() or mail_from())


def stamp_url() -> str:
    """Return the address of the authority that stamps heads of the audit; empty if none does."""
    return str(_setting("STAMP_URL"))


def reaches_loopback() -> bool:
    """Return whether push services and authorities may be on this machine, as in tests."""
    return bool(_setting("REACHES_LOOPBACK"))


def raise_unforeseen() -> bool:
    """Return whether a bug is raised instead of answered with 503, as tests want it."""
    return bool(_setting("RAISE_UNFORESEEN"))


@cache
def _policy(path: str) -> "Policy":
    policy: Policy = import_string(path)()
    return policy


def policy() -> "Policy":
    """Return the project's `Policy`."""
    return _policy(_setting("POLICY"))
