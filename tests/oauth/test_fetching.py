"""The fetch of a stranger's document: where it goes, how long, how much, and nowhere else."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
import trustme

from agent_access.oauth import fetching
from agent_access.oauth.fetching import MAX_BYTES, FetchError, fetch, is_public, resolve
from tests.oauth.certificates import document, send, stranger

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

# Without a deadline whoever is slow here takes some 30 seconds; with one, a machine may be slow.
SOON = 15


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

    monkeypatch.setattr(fetching, "make_tls_context", make_context)
    monkeypatch.setattr(fetching, "resolve", lambda *_: ["127.0.0.1"])
    monkeypatch.setattr(fetching, "is_public", lambda _address: True)


@pytest.fixture
def hurried(monkeypatch) -> None:
    monkeypatch.setattr(fetching, "TOTAL_SECONDS", 0.4)


def give_time(monkeypatch) -> None:
    """End the hurry: what need not wait is done long before this deadline, on any machine."""
    monkeypatch.setattr(fetching, "TOTAL_SECONDS", SOON)


def test_a_document_is_fetched_by_name_from_the_checked_address(authority, trusted):
    with stranger(authority, document(b"{}", b"Cache-Control: max-age=60")) as server:
        got = fetch(f"https://client.example:{server.port}/client.json?a=1")
    assert (got.body, got.cache_control) == (b"{}", "max-age=60")
    assert server.requests == [
        f"GET /client.json?a=1 HTTP/1.1\r\nHost: client.example:{server.port}\r\n"
        "Accept: application/json\r\nUser-Agent: agent-access\r\nConnection: close\r\n\r\n".encode()
    ]


@pytest.mark.parametrize("kind", [b"application/json; charset=utf-8", b"application/cimd+json"])
def test_json_of_either_kind_is_read(authority, trusted, kind):
    with stranger(authority, document(b"{}", b"Content-Type: " + kind)) as server:
        assert fetch(f"https://client.example:{server.port}/").body == b"{}"


def test_a_document_may_be_as_large_as_the_limit_and_no_larger(authority, trusted):
    largest = b"[" + b" " * (MAX_BYTES - 2) + b"]"
    with stranger(authority, document(largest)) as server:
        assert fetch(f"https://client.example:{server.port}/").body == largest
    with stranger(authority, document(largest + b" ")) as server, pytest.raises(FetchError):
        fetch(f"https://client.example:{server.port}/")


def test_a_chunked_document_is_read(authority, trusted):
    reply = send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    )
    with stranger(authority, reply) as server:
        assert fetch(f"https://client.example:{server.port}/").body == b"{}"


REFUSED_REPLIES = {
    "redirect": document(b"{}", b"Location: https://client.example/", status=b"302 Found"),
    "missing": document(b"{}", status=b"404 Not Found"),
    "created": document(b"{}", status=b"201 Created"),
    "html": document(b"{}", b"Content-Type: text/html"),
    "xml": document(b"{}", b"Content-Type: application/xml"),
    "no application": document(b"{}", b"Content-Type: text/cimd+json"),
    "no kind": send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
    "huge": document(b"[" + b"1," * 10_000 + b"1]"),
    "endless header": send(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000),
    "large headers": document(b"{}", *[b"X: " + b"x" * 4096] * 10),
    "many headers": send(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 9000 + b"\r\n"),
    "no http": send(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "nothing": send(),
    "cut off": send(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
    ),
}


@pytest.mark.parametrize("reply", REFUSED_REPLIES.values(), ids=REFUSED_REPLIES)
def test_what_is_no_small_document_is_refused(authority, trusted, reply):
    with stranger(authority, reply) as server, pytest.raises(FetchError):
        fetch(f"https://client.example:{server.port}/")
    assert len(server.requests) == 1


def test_an_endless_document_is_left_after_its_first_bytes(authority, trusted):
    ended = threading.Event()

    def drown(stream: ssl.SSLSocket) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        try:
            while True:
                stream.sendall(b" " * 4096)
        except OSError:
            ended.set()

    with stranger(authority, drown) as server, pytest.raises(FetchError):
        fetch(f"https://client.example:{server.port}/")
    assert ended.wait(5)


def drip(stream: ssl.SSLSocket) -> None:
    """Keep every single read short, and the whole endless."""
    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    for _ in range(600):
        stream.sendall(b" ")
        time.sleep(0.05)


def drip_headers(stream: ssl.SSLSocket) -> None:
    for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 600:
        stream.sendall(bytes([byte]))
        time.sleep(0.05)


def keep_silent(stream: ssl.SSLSocket) -> None:
    stream.settimeout(30)
    stream.recv(1)


@pytest.mark.parametrize("reply", [drip, drip_headers, keep_silent])
def test_the_whole_fetch_has_one_deadline(authority, trusted, hurried, reply):
    began = time.monotonic()
    with stranger(authority, reply) as server, pytest.raises(FetchError):
        fetch(f"https://client.example:{server.port}/")
    assert 0.4 <= time.monotonic() - began < SOON


def keep_quiet(plain: socket.socket) -> None:
    plain.settimeout(30)
    plain.recv(8192)


def drip_handshake(plain: socket.socket) -> None:
    """Begin a handshake that never comes to its end, byte by byte."""
    for byte in b"\x16\x03\x03\x3f\xff\x02" + b"\0" * 600:
        plain.sendall(bytes([byte]))
        time.sleep(0.05)


@pytest.mark.parametrize("speak", [keep_quiet, drip_handshake])
def test_a_handshake_that_never_ends_has_the_same_deadline(trusted, hurried, speak):
    met = threading.Event()

    def serve(listener: socket.socket) -> None:
        plain, _ = listener.accept()
        met.set()
        with plain, suppress(OSError):
            speak(plain)
            plain.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        began = time.monotonic()
        with pytest.raises(FetchError):
            fetch(f"https://client.example:{listener.getsockname()[1]}/")
        assert 0.4 <= time.monotonic() - began < SOON
    assert met.is_set()


class Resolver:
    """Answers some names at once, and the slow ones when it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def resolve(self, host: str, _port: int) -> list[str]:
        if host.startswith("slow"):
            self.released.wait(30)
        if host.startswith("unknown"):
            raise socket.gaierror
        return ["127.0.0.1"]


@pytest.fixture
def resolver(monkeypatch) -> Iterator[Resolver]:
    """Never leads anywhere: a name that was looked up is a private address, and refused as such."""
    resolver = Resolver()
    monkeypatch.setattr(fetching, "resolve", resolver.resolve)
    places = threading.BoundedSemaphore(4)
    monkeypatch.setattr(fetching, "_lookups", places)
    yield resolver
    resolver.released.set()
    assert all(places.acquire(timeout=5) for _ in range(4))


def seconds_of(host: str) -> float:
    """Return how long the fetch of that host took to be refused."""
    began = time.monotonic()
    with pytest.raises(FetchError):
        fetch(f"https://{host}/")
    return time.monotonic() - began


def test_a_slow_resolver_has_the_same_deadline(hurried, resolver):
    assert 0.4 <= seconds_of("slow.example") < SOON


def test_slow_names_hold_up_no_other_as_long_as_one_more_may_be_looked_up(
    hurried, resolver, monkeypatch
):
    for _ in range(3):
        seconds_of("slow.example")
    give_time(monkeypatch)
    assert seconds_of("quick.example") < SOON


def test_with_too_many_slow_names_nobody_waits_longer_than_the_deadline(
    hurried, resolver, monkeypatch
):
    with ThreadPoolExecutor(12) as threads:
        hosts = [f"slow{number}.example" for number in range(12)]
        assert max(threads.map(seconds_of, hosts)) < SOON
    assert 0.4 <= seconds_of("quick.example") < SOON
    resolver.released.set()
    give_time(monkeypatch)
    assert seconds_of("quick.example") < SOON


def test_a_name_that_is_not_found_gives_its_place_back(resolver, monkeypatch):
    give_time(monkeypatch)
    assert all(seconds_of("unknown.example") < SOON for _ in range(5))


def test_a_look_up_for_which_there_is_no_thread_gives_its_place_back(resolver, monkeypatch):
    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    with pytest.raises(FetchError):
        fetch("https://quick.example/")


def test_a_certificate_of_another_name_or_authority_is_refused(authority, trusted):
    with (
        stranger(authority, document(b"{}"), name="other.example") as server,
        pytest.raises(FetchError),
    ):
        fetch(f"https://client.example:{server.port}/")
    with stranger(trustme.CA(), document(b"{}")) as server, pytest.raises(FetchError):
        fetch(f"https://client.example:{server.port}/")
    assert server.requests == []


PRIVATE = [
    "64:ff9b:1::a00:1",
    "::127.0.0.1",
    "::ffff:0:7f00:1",
    "fec0::1",
    "5f00::1",
    "0.0.0.0",  # noqa: S104  an address to refuse
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2002:808:808::",
    "2001:0:7f00:1::",
    "2001:0:808:808::",
    "2001:db8::1",
    "fc00::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
]


@pytest.fixture
def never_connected(monkeypatch) -> None:
    def connect(*_: Any) -> None:
        raise AssertionError("connected")

    monkeypatch.setattr("socket.create_connection", connect)


@pytest.mark.usefixtures("never_connected")
@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_never_connected_to(address, monkeypatch):
    monkeypatch.setattr(fetching, "resolve", lambda *_: ["93.184.215.14", address])
    assert not is_public(address)
    with pytest.raises(FetchError):
        fetch("https://client.example/")


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_an_address_of_the_open_internet_is_public(address):
    assert is_public(address)


def test_a_name_is_resolved_once_and_its_checked_address_is_called(monkeypatch):
    """A second answer of the name server (rebinding) is never asked for."""
    answers = iter([["93.184.215.14", "2606:4700::1111"], ["127.0.0.1"]])
    called = []

    def connect(address: Any, timeout: float) -> None:
        called.append(address)
        raise OSError

    monkeypatch.setattr(fetching, "resolve", lambda *_: next(answers))
    monkeypatch.setattr("socket.create_connection", connect)
    with pytest.raises(FetchError):
        fetch("https://client.example/x")
    assert called == [("93.184.215.14", 443), ("2606:4700::1111", 443)]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_systems_resolver_tells_each_address_once(address):
    assert resolve(address, 443) == [address]


@pytest.mark.usefixtures("never_connected")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_the_systems_resolver_is_believed_in_nothing(host):
    with pytest.raises(FetchError):
        fetch(f"https://{host}/client.json")
