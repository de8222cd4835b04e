"""Where the application's URL says that it is served."""

from urllib.parse import urlsplit

HTTPS_PORT = 443

# The names that reach this machine only, and the address that each is served at.
LOOPBACK_ADDRESSES = {"localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1", "::1": "::1"}


def loopback_address(base_url: str) -> str | None:
    """Return the address to serve at, or None where the URL does not mean this machine."""
    return LOOPBACK_ADDRESSES.get(urlsplit(base_url).hostname or "")


def port_of(base_url: str) -> int:
    return urlsplit(base_url).port or HTTPS_PORT
