"""One careful request to an HTTPS address that a stranger chose, or to a stamping authority's.

Only to the very address that was checked to be public, without redirects, and with limits on size
and total time.
"""

import io
import ipaddress
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from threading import BoundedSemaphore, Thread
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

TOTAL_SECONDS = 5
MAX_BYTES = 16 * 1024
MAX_HEADER_BYTES = 16 * 1024
HTTPS_PORT = 443
HTTP_PORT = 80
NAT64 = ipaddress.ip_network("64:ff9b::/96")

# The system's resolver takes no time-out and may need half a minute, so each name is looked up in a
# thread of its own, which may outlive the request. The rate limit keeps fewer waiting than this.
MAX_LOOKUPS = 16
_lookups = BoundedSemaphore(MAX_LOOKUPS)


class OutgoingError(Exception):
    """Refused, unreachable, too slow, or too large."""


@contextmanager
def request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    *,
    reaches_loopback: bool = False,
    may_be_plain: bool = False,
) -> Iterator[HTTPResponse]:
    """Send a request to an https address; yield the answer, whose head was read.

    All of it, reading the answer's body too, takes five seconds at most: what fails raises
    OutgoingError. `reaches_loopback` lets tests call this machine. `may_be_plain` takes an http
    address, too: for what is no secret, where the answer is signed.
    """
    deadline = time.monotonic() + TOTAL_SECONDS
    parts = urlsplit(url)
    is_plain = may_be_plain and parts.scheme == "http"
    try:
        host, port = str(parts.hostname), parts.port or (HTTP_PORT if is_plain else HTTPS_PORT)
        addresses = _find_public_addresses(host, port, deadline, reaches_loopback=reaches_loopback)
        plain = _connect(addresses, port, deadline)
        plain.settimeout(_seconds_until(deadline))
        with plain, plain if is_plain else _secure(plain, host) as stream:
            stream.settimeout(_seconds_until(deadline))
            stream.sendall(_head(method, url, headers, body) + body)
            bounded = _BoundedStream(stream, deadline)
            response = HTTPResponse(bounded, method=method)  # type: ignore[arg-type]  # it calls nothing but makefile()
            response.begin()
            yield response
    except (OSError, HTTPException, ValueError, FutureTimeoutError) as error:
        raise OutgoingError from error


def _secure(plain: socket.socket, host: str) -> ssl.SSLSocket:
    return make_tls_context().wrap_socket(plain, server_hostname=host)


def _head(method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    length = {"Content-Length": str(len(body))} if body else {}
    fields = {"Host": parts.netloc, **headers, **length}
    fields |= {"User-Agent": "agent-access", "Connection": "close"}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def make_tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def resolve(host: str, port: int) -> list[str]:
    """Return every address that the name has."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


# Of IPv6 only what IANA has given out as global unicast, IPv4-mapped addresses, and the well-known
# NAT64 prefix: other forms may embed an IPv4 address where this module does not look for it. So do
# the tunnels, by which nobody serves (RFC 7526): 6to4, and Teredo, which is not global anyway.
SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
REACHABLE = (
    *ipaddress.IPv6Network("2000::/3").address_exclude(SIX_TO_FOUR),
    ipaddress.IPv6Network("::ffff:0:0/96"),
    NAT64,
)


def is_public(address: str) -> bool:
    """Return whether an address, and any address embedded in it, is public and unicast."""
    ip, embedded = ipaddress.ip_address(address), None
    if isinstance(ip, ipaddress.IPv6Address):
        if not any(ip in each for each in REACHABLE):
            return False
        embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in NAT64 else ip.ipv4_mapped
    return all(each.is_global and not each.is_multicast for each in (ip, embedded) if each)


def is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def _find_public_addresses(
    host: str, port: int, deadline: float, *, reaches_loopback: bool
) -> list[str]:
    """Return the addresses of a name; raise OutgoingError if even one of them is not public."""
    addresses = _look_up(host, port, deadline).result(timeout=_seconds_until(deadline))
    allowed = ((reaches_loopback and is_loopback(each)) or is_public(each) for each in addresses)
    if not addresses or not all(allowed):
        raise OutgoingError
    return addresses


def _look_up(host: str, port: int, deadline: float) -> Future[list[str]]:
    if not _lookups.acquire(timeout=_seconds_until(deadline)):
        raise OutgoingError
    answer: Future[list[str]] = Future()
    try:
        # A daemon, since a slow name must not keep the process from ending.
        Thread(target=_answer, args=(answer, host, port), daemon=True).start()
    except RuntimeError as error:  # the system gives no more threads
        _lookups.release()
        raise OutgoingError from error
    return answer


def _answer(answer: Future[list[str]], host: str, port: int) -> None:
    try:
        answer.set_result(resolve(host, port))
    except Exception as error:  # noqa: BLE001  told to whoever waits
        answer.set_exception(error)
    finally:
        _lookups.release()


def _connect(addresses: list[str], port: int, deadline: float) -> socket.socket:
    """Connect to the first of the checked addresses that answers; no name is resolved again."""
    for address in addresses:
        with suppress(OSError):
            return socket.create_connection((address, port), _seconds_until(deadline))
    raise OutgoingError


class _BoundedStream(io.RawIOBase):
    """Reads until the deadline of the whole request, however slowly the other side drips."""

    def __init__(self, stream: socket.socket, deadline: float) -> None:
        super().__init__()
        self._stream = stream
        self._deadline = deadline
        self._left = MAX_HEADER_BYTES + MAX_BYTES

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any) -> int:
        self._stream.settimeout(_seconds_until(self._deadline))
        received = self._stream.recv_into(buffer)
        self._left -= received
        if self._left < 0:
            raise OutgoingError
        return received


def _seconds_until(deadline: float) -> float:
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise OutgoingError
    return rest
