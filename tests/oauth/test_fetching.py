"""The fetch of a stranger's document: where it goes, how long, how much, and nowhere else."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from unittest.mock import Mock

import pytest
import trustme

from agent_access import outgoing
from agent_access.oauth.fetching import fetch
from agent_access.outgoing import MAX_BYTES, OutgoingError, is_public
from tests.oauth.certificates import Stranger, document, send, stranger

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

# Whoever is slow here is done after this time, and would have been answered without a deadline.
DEADLINE_SECONDS = 0.2
SLOW_SECONDS = 10


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority, monkeypatch) -> None:
    """Trust the authority of these tests, and hold its servers for public ones."""

    def make_context() -> ssl.SSLContext:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    monkeypatch.setattr(outgoing, "make_tls_context", make_context)
    monkeypatch.setattr(outgoing, "resolve", lambda *_: ["127.0.0.1"])
    monkeypatch.setattr(outgoing, "is_public", lambda _address: True)


@pytest.fixture
def hurried(monkeypatch) -> None:
    monkeypatch.setattr(outgoing, "TOTAL_SECONDS", DEADLINE_SECONDS)


def fetch_from(server: Stranger) -> bytes:
    return fetch(f"https://client.example:{server.port}/").body


def test_a_document_is_fetched_by_name_from_the_checked_address(authority, trusted):
    with stranger(authority, document(b"{}", b"Cache-Control: max-age=60")) as server:
        got = fetch(f"https://client.example:{server.port}/client.json?a=1")
    assert (got.body, got.cache_control) == (b"{}", "max-age=60")
    assert server.requests == [
        f"GET /client.json?a=1 HTTP/1.1\r\nHost: client.example:{server.port}\r\n"
        "Accept: application/json\r\nUser-Agent: agent-access\r\nConnection: close\r\n\r\n".encode()
    ]


def test_a_document_may_be_as_large_as_the_limit_and_no_larger(authority, trusted):
    largest = b"[" + b" " * (MAX_BYTES - 2) + b"]"
    with stranger(authority, document(largest, kind=b"application/cimd+json")) as server:
        assert fetch_from(server) == largest
    with stranger(authority, document(largest + b" ")) as server, pytest.raises(OutgoingError):
        fetch_from(server)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def test_a_chunked_document_is_read(authority, trusted):
    chunks = b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"
    reply = send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunks)
    with stranger(authority, reply) as server:
        assert fetch_from(server) == b"{}"


REFUSED_REPLIES = {
    "redirect": document(b"{}", b"Location: https://client.example/", status=b"302 Found"),
    "missing": document(b"{}", status=b"404 Not Found"),
    "html": document(b"{}", kind=b"text/html"),
    "no application": document(b"{}", kind=b"text/cimd+json"),
    "no kind": send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
    "large headers": document(b"{}", *[b"X: " + b"x" * 4096] * 10),
    "no http": send(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "nothing": send(),
    "cut off": send(HEAD + b"Content-Length: 9\r\n\r\n{"),
}


@pytest.mark.parametrize("reply", REFUSED_REPLIES.values(), ids=REFUSED_REPLIES)
def test_what_is_no_small_document_is_refused(authority, trusted, reply):
    with stranger(authority, reply) as server, pytest.raises(OutgoingError):
        fetch_from(server)
    assert len(server.requests) == 1


def test_an_endless_document_is_left_after_its_first_bytes(authority, trusted):
    ended = threading.Event()

    def drown(stream: ssl.SSLSocket) -> None:
        stream.sendall(HEAD + b"\r\n")
        try:
            while True:
                stream.sendall(b" " * 4096)
        except OSError:
            ended.set()

    with stranger(authority, drown) as server, pytest.raises(OutgoingError):
        fetch_from(server)
    assert ended.wait(5)


def drip(stream: socket.socket, sent: bytes) -> None:
    """Keep every single read short, and the whole long."""
    for byte in sent:
        stream.sendall(bytes([byte]))
        time.sleep(SLOW_SECONDS / len(sent))


def drip_body(stream: ssl.SSLSocket) -> None:
    stream.sendall(HEAD + b"\r\n")
    drip(stream, b"{" + b" " * 40 + b"}")


def drip_headers(stream: ssl.SSLSocket) -> None:
    drip(stream, HEAD)
    stream.sendall(b"\r\n{}")


def keep_silent(stream: ssl.SSLSocket) -> None:
    time.sleep(SLOW_SECONDS)
    document(b"{}")(stream)


@pytest.mark.parametrize("reply", [drip_body, drip_headers, keep_silent])
def test_the_whole_fetch_has_one_deadline(authority, trusted, hurried, reply):
    with stranger(authority, reply) as server, pytest.raises(OutgoingError):
        fetch_from(server)


# The beginning of a handshake that never comes to its end.
HELLO = b"\x16\x03\x03\x3f\xff\x02" + b"\0" * 40


@pytest.mark.parametrize("said", [HELLO[:1], HELLO], ids=["one byte", "a byte now and then"])
def test_a_handshake_that_never_ends_has_the_same_deadline(trusted, hurried, said):
    met, waited_to_the_end = threading.Event(), threading.Event()

    def serve(listener: socket.socket) -> None:
        plain, _ = listener.accept()
        met.set()
        with plain, suppress(OSError):
            drip(plain, said)
            waited_to_the_end.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        with pytest.raises(OutgoingError):
            fetch(f"https://client.example:{listener.getsockname()[1]}/")
    assert (met.is_set(), waited_to_the_end.is_set()) == (True, False)


class Resolver:
    """Answers some names at once, and the slow ones when it is released; notes all names."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.asked: list[str] = []

    def resolve(self, host: str, _port: int) -> list[str]:
        self.asked.append(host)
        if host.startswith("slow"):
            self.released.wait(SLOW_SECONDS)
        if host.startswith("unknown"):
            raise socket.gaierror
        return ["93.184.215.14"]


@pytest.fixture
def resolver(monkeypatch, called) -> Iterator[Resolver]:
    """Two names can be looked up at once; each place must be free again in the end."""
    resolver = Resolver()
    monkeypatch.setattr(outgoing, "resolve", resolver.resolve)
    places = threading.BoundedSemaphore(2)
    monkeypatch.setattr(outgoing, "_lookups", places)
    yield resolver
    resolver.released.set()
    assert all(places.acquire(timeout=5) for _ in range(2))


@pytest.fixture
def called(monkeypatch) -> list[Any]:
    """Return the addresses that were called; nobody answers there."""
    called: list[Any] = []

    def connect(address: Any, _timeout: float) -> None:
        called.append(address)
        raise OSError

    monkeypatch.setattr("socket.create_connection", connect)
    return called


def refuse(host: str) -> None:
    with pytest.raises(OutgoingError):
        fetch(f"https://{host}/")


def test_slow_names_have_the_same_deadline_and_hold_up_no_other_while_there_is_a_place(
    hurried, resolver, called, monkeypatch
):
    for number in range(2):
        refuse(f"slow{number}.example")
    refuse("quick.example")
    assert ("quick.example" in resolver.asked, called) == (False, [])
    resolver.released.set()
    monkeypatch.setattr(outgoing, "TOTAL_SECONDS", 15)
    refuse("quick.example")
    assert called == [("93.184.215.14", 443)]


def test_a_name_that_is_not_found_gives_its_place_back(resolver):
    for _ in range(3):
        refuse("unknown.example")
    assert len(resolver.asked) == 3


def test_a_look_up_for_which_there_is_no_thread_gives_its_place_back(resolver, monkeypatch):
    failure = Mock(side_effect=RuntimeError("can't start new thread"))
    monkeypatch.setattr(threading.Thread, "start", failure)
    refuse("quick.example")


def test_a_certificate_of_another_name_or_authority_is_refused(authority, trusted):
    with (
        stranger(authority, document(b"{}"), name="other.example") as server,
        pytest.raises(OutgoingError),
    ):
        fetch_from(server)
    with stranger(trustme.CA(), document(b"{}")) as server, pytest.raises(OutgoingError):
        fetch_from(server)
    assert server.requests == []


def test_a_strangers_http_address_gets_nothing_in_plain(trusted, hurried):
    with socket.create_server(("127.0.0.1", 0)) as plain:
        with pytest.raises(OutgoingError):
            fetch(f"http://client.example:{plain.getsockname()[1]}/")
        with plain.accept()[0] as stream:
            assert stream.recv(1) == b"\x16"  # the greeting of TLS


PRIVATE = {
    "this machine": ["127.0.0.1", "127.255.255.254", "::1", "0.0.0.0", "::"],  # noqa: S104  to refuse
    "a private network": ["10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fc00::1"],
    "this link": ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1"],
    "many": ["224.0.0.1", "255.255.255.255", "ff02::1"],
    "nobody": ["192.0.2.1", "198.18.0.1", "240.0.0.1", "2001:db8::1", "5f00::1"],
    "IPv4 inside": ["::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:7f00:1"],
    "IPv4 behind NAT64": ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1"],
    "a tunnel": ["2002:7f00:1::", "2002:808:808::", "2001:0:7f00:1::", "2001:0:808:808::"],
}


@pytest.mark.parametrize("addresses", PRIVATE.values(), ids=PRIVATE)
def test_an_address_that_is_not_public_is_never_connected_to(
    addresses, called, monkeypatch, subtests
):
    for address in addresses:
        with subtests.test(address=address):
            monkeypatch.setattr(outgoing, "resolve", lambda *_: ["93.184.215.14", address])  # noqa: B023  called at once
            assert not is_public(address)
            refuse("client.example")
    assert called == []


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_an_address_of_the_open_internet_is_public(address):
    assert is_public(address)


def test_a_name_is_resolved_once_and_its_checked_address_is_called(called, monkeypatch):
    """A second answer of the name server (rebinding) is never asked for."""
    answers = iter([["93.184.215.14", "2606:4700::1111"], ["127.0.0.1"]])
    monkeypatch.setattr(outgoing, "resolve", lambda *_: next(answers))
    refuse("client.example")
    assert called == [("93.184.215.14", 443), ("2606:4700::1111", 443)]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_the_systems_resolver_is_believed_in_nothing(called, host):
    refuse(host)
    assert called == []
