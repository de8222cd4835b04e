"""The host and the port at which BASE_URL says that the application is served."""

from urllib.parse import urlsplit

HTTPS_PORT = 443

# The host names that reach this machine only, and the address to listen at for each.
LOOPBACK_ADDRESSES = {"localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1", "::1": "::1"}


def loopback_address(base_url: str) -> str | None:
    """Return the address to listen at, or None if the URL is not one of this machine."""
    return LOOPBACK_ADDRESSES.get(urlsplit(base_url).hostname or "")


def port_of(base_url: str) -> int:
    return urlsplit(base_url).port or HTTPS_PORT
