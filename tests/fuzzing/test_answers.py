"""What the servers of strangers answer, byte by byte: it is read within bounds, or not at all."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_access import outgoing
from agent_access.audit import Origin
from agent_access.models.audit import Transport
from agent_access.oauth.client_documents import (
    MAX_AGE,
    MIN_AGE,
    UnusableDocumentError,
    _lifetime,
    _read_document,
    refresh_client,
)
from agent_access.oauth.client_metadata import InvalidMetadataError
from agent_access.oauth.fetching import Document, fetch
from agent_access.oauth.models import Application
from agent_access.oauth.return_addresses import may_register
from agent_access.outgoing import MAX_BYTES, OutgoingError
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import ODD_BYTES, spoilt_bytes, spoilt_values, write

pytestmark = pytest.mark.sqlite

CLIENT = "https://client.example/oauth/client.json"
DOCUMENT = {
    "client_id": CLIENT,
    "client_name": "Ledger agent",
    "redirect_uris": ["https://client.example/callback", "http://localhost/callback"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}
STATUSES = (
    *(b"200 OK", b"200", b"206 Partial Content", b"301 Moved", b"302 Found", b"307 Temporary"),
    *(b"308 Permanent", b"404 Not Found", b"500 No", b"100 Continue", b"199 ?", b"999 ?", b"abc"),
    *(b"-200 OK", b"2000 OK", b"200 " + b"a" * 70_000),
)
TYPES = (
    *(
        b"application/json",
        b"application/x+json",
        b"text/html",
        b"application/json; charset=utf-16",
    ),
    *(b"", b"application/", b"\xff/json", b"APPLICATION/JSON", b"multipart/mixed; boundary=x"),
)
HEADS = (
    *(b"Location: http://169.254.169.254/", b"Location: https://client.example/other"),
    *(
        b"Content-Encoding: gzip",
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: gzip, chunked",
    ),
    *(
        b"Content-Length: 9999999",
        b"Content-Length: -1",
        b"Content-Length: 1, 2",
        b"Content-Length:",
    ),
    *(
        b"Cache-Control: max-age=999999999",
        b"Cache-Control: no-store",
        b"Cache-Control: max-age=-1",
    ),
    *(
        b"Cache-Control: max-age=99999999999999",
        b'Cache-Control: max-age="5"',
        b": novalue",
        b"\x00",
    ),
    *(
        b"X: " + b"a" * 70_000,
        b"A: b\r\n" * 200,
        b"Set-Cookie: a=b",
        b" folded",
        b"Connection: close",
    ),
)
STOLEN = b"secret of the internal network"


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """Draw the answer of a server that lies about what it sends, or sends what nobody asked for."""
    value = draw(st.just(DOCUMENT) | spoilt_values(DOCUMENT))
    body = write(value, ascii_only=draw(st.booleans()))
    body += draw(st.sampled_from([b"", b"", b" " * MAX_BYTES, STOLEN]))
    heads = draw(st.lists(st.sampled_from(HEADS), max_size=3))
    if any(b"chunked" in each for each in heads):
        size = draw(st.sampled_from([len(body), len(body) + 9, 2**70, -1, 1]))
        body = b"%x%b\r\n" % (size, draw(st.sampled_from([b"", b";a=b"]))) + body + b"\r\n0\r\n\r\n"
    elif draw(st.booleans()):
        heads.append(b"Content-Length: %d" % (len(body) + draw(st.sampled_from([0, 0, 5, -5]))))
    status, kind = (
        draw(st.sampled_from((*STATUSES[:1] * 9, *STATUSES))),
        draw(st.sampled_from(TYPES)),
    )
    first = draw(
        st.sampled_from([b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.0 ", b"HTTP/9 ", b"", b"ICY "])
    )
    told = b"\r\n".join([first + status, b"Content-Type: " + kind, *heads]) + b"\r\n\r\n" + body
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        told = draw(spoilt_bytes(told) | st.just(told + draw(ODD_BYTES)))
    return told


@contextmanager
def server_of(told: bytes) -> Iterator[socket.socket]:
    """Give the client's end of a line on which somebody says this, and hangs up."""
    ours, theirs = socket.socketpair()

    def speak() -> None:
        with theirs, suppress(OSError):  # the client had enough
            theirs.sendall(told)

    speaker = Thread(target=speak)
    speaker.start()
    try:
        yield ours
    finally:
        ours.close()
        speaker.join()


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> dict[str, socket.socket]:
    """Connect each request to the end that is put in here, and to no other address."""
    ends: dict[str, Any] = {}
    monkeypatch.setattr(outgoing, "resolve", lambda *_: ["93.184.216.34"])
    monkeypatch.setattr(outgoing, "_connect", lambda *_: ends["line"])
    monkeypatch.setattr(outgoing, "_secure", lambda plain, _host: plain)
    return ends


@pytest.mark.enable_socket
def test_a_document_is_fetched_within_bounds_or_not_at_all(line):
    @try_hard(15, long=250)
    @given(answers())
    def fuzz(told: bytes) -> None:
        tally["answers of servers"] += 1
        with server_of(told) as line["line"]:
            try:
                document = fetch(CLIENT)
            except OutgoingError:
                return
        assert len(document.body) <= MAX_BYTES
        assert MIN_AGE <= _lifetime(document) <= MAX_AGE
        # Whatever was said of the type: nothing but an answer of 200 is read.
        assert told.split(None, 2)[1][:3] in {b"200", b"100", b"199"}

    fuzz()


def test_a_clients_document_is_about_itself_or_it_is_refused():
    @try_hard(15, long=250)
    @given(spoilt_values(DOCUMENT) | spoilt_values(DOCUMENT).flatmap(spoilt_values), st.data())
    def fuzz(value: Any, data: st.DataObject) -> None:
        tally["client documents"] += 1
        body = write(value, ascii_only=data.draw(st.booleans()))
        if data.draw(st.booleans()):
            body = data.draw(spoilt_bytes(body))
        try:
            fields = _read_document(CLIENT, Document(body, ""))
        except InvalidMetadataError:
            return
        read = json.loads(body)
        assert read["client_id"] == CLIENT
        assert "client_secret" not in read
        assert all(map(may_register, fields["redirect_uris"].split()))
        assert fields["name"].isprintable()

    fuzz()


PLACES = st.sampled_from(
    (
        *("", "/", "/client.json", "/a/../b", "/./a", "//evil.example/", "/?a", "/#a", "/%2e%2e/a"),
        *("/\\evil.example", "/a b", "/é", "/%00", "/\r\nHost: evil", "/" * 600, "/@evil.example"),
    )
)
PEERS = st.sampled_from(
    (
        *("client.example", "localhost", "127.0.0.1", "[::1]", "169.254.169.254", "0x7f000001"),
        *(
            "2130706433",
            "127.1",
            "client.example:22",
            "client.example:99999",
            "user@client.example",
        ),
        *(
            "client.example.",
            "CLIENT.EXAMPLE",
            "a" * 254,
            "client.example\\.evil",
            "",
            "[::ffff:7f00:1]",
        ),
    )
)


@pytest.mark.django_db
def test_no_address_of_a_client_leads_anywhere_but_to_a_public_one(monkeypatch):
    """A name may mean any address: none that is not public is connected to."""
    connected: list[str] = []
    monkeypatch.setattr(outgoing, "_connect", lambda found, *_: connected.extend(found))
    private = ("127.0.0.1", "10.0.0.1", "::1", "169.254.169.254", "::ffff:192.168.0.1", "fe80::1")

    @try_hard(15, long=250)
    @given(
        st.builds("https://{}{}".format, PEERS, PLACES),
        st.lists(st.sampled_from(private), min_size=1, max_size=3),
        st.booleans(),
    )
    def fuzz(address: str, found: list[str], is_mixed: bool) -> None:  # noqa: FBT001  drawn
        tally["client addresses"] += 1
        told = ["93.184.216.34", *found] if is_mixed else found
        monkeypatch.setattr(outgoing, "resolve", lambda *_: told)
        origin = Origin(transport=Transport.WEB)
        with pytest.raises(UnusableDocumentError):
            refresh_client(address, origin=origin)
        assert connected == []

    fuzz()
    assert not Application.objects.exists()
