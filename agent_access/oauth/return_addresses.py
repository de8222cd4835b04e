"""Return addresses (redirect URIs): which a client may register, and which match those.

Interface: "HTTPS, or HTTP on localhost, 127.0.0.1 or [::1]; they must match the registered address
and hold no fragment". Native clients listen on an ephemeral port, so a loopback address that was
registered without a port matches any (RFC 8252 section 7.3); one with a port matches exactly.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

MAX_ADDRESSES = 5
MAX_LENGTH = 2000
MAX_HOST_LENGTH = 253
LAST_PORT = 65535

LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
HOST = rf"(?P<host>{LABEL}(?:\.{LABEL})*|\[[0-9a-f:.]+\])"
PORT = r"(?::(?P<port>[1-9][0-9]{0,4}))?"
# RFC 3986: path and query, without the characters that browsers correct in different ways.
REST = r"(?P<rest>[/?](?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
LOOPBACK = r"localhost|127\.0\.0\.1|\[::1\]"

# The parameters of an authorization response, which an address must not have already.
ANSWER_PARAMETERS = frozenset({"code", "error", "error_description", "error_uri", "iss", "state"})

HTTPS_ADDRESS = re.compile(rf"https://{HOST}{PORT}{REST}", re.ASCII)
LOOPBACK_ADDRESS = re.compile(rf"(?P<origin>http://(?P<host>{LOOPBACK})){PORT}{REST}", re.ASCII)


def may_register(address: object) -> bool:
    """Return whether this is an address that a client may register."""
    if not isinstance(address, str) or len(address) > MAX_LENGTH:
        return False
    found = HTTPS_ADDRESS.fullmatch(address) or LOOPBACK_ADDRESS.fullmatch(address)
    if found is None:
        return False
    if len(found["host"]) > MAX_HOST_LENGTH or not _is_port(found["port"]):
        return False
    try:
        query = parse_qsl(urlsplit(address).query, keep_blank_values=True)
    except ValueError:  # what stands in brackets is no IPv6 address
        return False
    return ANSWER_PARAMETERS.isdisjoint(name for name, _ in query)


def is_registered(address: str, registered: Iterable[str]) -> bool:
    """Return whether the address equals a registered one, but for a loopback address's port."""
    known = set(registered)
    return address in known or _without_loopback_port(address) in known


def add_answer(address: str, answer: Sequence[tuple[str, str]]) -> str:
    """Return the address with an authorization response; its own query is kept as it is.

    RFC 6749 section 3.1.2: a query component "MUST be retained".
    """
    path, _, query = address.partition("?")
    return f"{path}?{query}{'&' if query else ''}{urlencode(answer)}"


def is_loopback(address: str) -> bool:
    return LOOPBACK_ADDRESS.fullmatch(address) is not None


def host_of(address: str) -> str:
    """Return the host of a valid address as it is written; empty for any other."""
    found = HTTPS_ADDRESS.fullmatch(address) or LOOPBACK_ADDRESS.fullmatch(address)
    return found["host"] if found else ""


def policy_source(address: str) -> str:
    """Return the source of a valid address for a Content-Security-Policy: scheme, host and port.

    CSP's grammar has no IPv6 addresses, so for those it is the scheme alone.
    """
    parts = urlsplit(address)
    is_ipv6 = parts.netloc.startswith("[")
    return f"{parts.scheme}:" if is_ipv6 else f"{parts.scheme}://{parts.netloc}"


def _without_loopback_port(address: str) -> str | None:
    found = LOOPBACK_ADDRESS.fullmatch(address)
    if found is None or not _is_port(found["port"]):
        return None
    return found["origin"] + (found["rest"] or "")


def _is_port(port: str | None) -> bool:
    return port is None or int(port) <= LAST_PORT
