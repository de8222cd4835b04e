"""Where passkeys of this service can be used."""

import ipaddress
from urllib.parse import urlsplit

from agent_access import conf


def relying_party() -> str:
    """Return the RP ID: the host of BASE_URL."""
    return urlsplit(conf.base_url()).hostname or ""


def can_have_passkeys() -> bool:
    """Return whether browsers let BASE_URL have passkeys: no IP address can, nor plain HTTP.

    Of plain HTTP they let localhost.
    """
    host = relying_party()
    try:
        ipaddress.ip_address(host)
    except ValueError:
        is_secure = conf.base_url().startswith("https:") or host == "localhost"
        return bool(host) and is_secure
    return False
