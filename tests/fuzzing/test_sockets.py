"""Requests that lie about their length, over a socket to the server as it runs in production."""

import json
import re
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invoicing.models import Document
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import spoilt_bytes
from tests.https_server import HttpsServer

# The server is the same whatever its database.
pytestmark = [pytest.mark.sqlite, pytest.mark.usefixtures("access_on")]

PATIENCE_SECONDS = 20
# A server that was promised more bytes waits for them; its caller does not.
IMPATIENCE_SECONDS = 0.2


def chunk(*parts: bytes, surplus: int = 0) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part) + surplus, part) for part in parts)


def halves(body: bytes) -> tuple[bytes, bytes]:
    return body[: len(body) // 2], body[len(body) // 2 :]


def length(number: object) -> bytes:
    return f"Content-Length: {number}\r\n".encode()


CHUNKED = b"Transfer-Encoding: chunked\r\n"
END = b"0\r\n\r\n"

# What stands in the head, and the body as it is sent: by how it lies, with a small number.
Lie = Callable[[bytes, int], tuple[bytes, bytes]]
HONEST: dict[str, Lie] = {
    "length": lambda body, _: (length(len(body)), body),
    "chunks": lambda body, _: (CHUNKED, chunk(*halves(body)) + END),
}
# A chunked body without its end: to the server's stream that is an end, and nothing else is left to
# compare with. What came was whole JSON, so it is the draft that was meant, or nothing.
WITHOUT_END: dict[str, Lie] = {"no last chunk": lambda body, _: (CHUNKED, chunk(*halves(body)))}
LYING: dict[str, Lie] = {
    "longer": lambda body, n: (length(len(body) + n), body),
    "shorter": lambda body, n: (length(len(body) - n), body),
    "none": lambda body, _: (b"", body),
    "zero": lambda body, _: (length(0), body),
    "negative": lambda body, n: (length(-n), body),
    "signed": lambda body, _: (length(f"+{len(body)}"), body),
    "hexadecimal": lambda body, _: (length(hex(len(body))), body),
    "two lengths": lambda body, n: (length(len(body)) + length(len(body) + n), body),
    "a list of lengths": lambda body, n: (length(f"{len(body)}, {len(body) + n}"), body),
    "huge": lambda body, _: (length("9" * 40), body),
    "a chunk cut off": lambda body, n: (CHUNKED, chunk(body)[: -n - 2]),
    "chunks too long": lambda body, n: (CHUNKED, chunk(*halves(body), surplus=n) + END),
    "chunks too short": lambda body, n: (CHUNKED, chunk(*halves(body), surplus=-n) + END),
    "no hexadecimal chunk": lambda body, _: (CHUNKED, b"zz\r\n" + body + b"\r\n" + END),
    "another encoding": lambda body, _: (b"Transfer-Encoding: xchunked\r\n", chunk(body) + END),
    "a blank before the colon": lambda body, _: (b"Content-Length : %d\r\n" % len(body), body),
}
WAITING = {"longer", "huge", "no last chunk", "a chunk cut off", "chunks too long"}


@dataclass
class Caller:
    """Writes requests byte by byte, each for a draft of its own."""

    server: HttpsServer
    credential: str
    draft_body: dict[str, Any]
    sent: int = 0

    def write(self, way: Lie, *, reference: str, number: int) -> tuple[bytes, bytes]:
        content = json.dumps(self.draft_body | {"reference": reference}).encode()
        framing, body = way(content, number)
        head = (
            f"POST /api/v1/drafts HTTP/1.1\r\nHost: {urlsplit(self.server.base_url).netloc}\r\n"
            f"Authorization: Bearer {self.credential}\r\nIdempotency-Key: {reference}\r\n"
            "Content-Type: application/json\r\nConnection: close\r\n"
        )
        return head.encode() + framing + b"\r\n", body

    def talk(self, request: bytes, *, seconds: float = PATIENCE_SECONDS) -> bytes:
        """Return all that the server says until it closes, or until it is not waited for."""
        tally["sockets"] += 1
        self.sent += 1
        address = ("127.0.0.1", urlsplit(self.server.base_url).port)
        said = b""
        try:
            with (
                socket.create_connection(address, timeout=PATIENCE_SECONDS) as plain,
                self.server.ssl_context.wrap_socket(plain, server_hostname="localhost") as line,
            ):
                line.sendall(request)
                line.settimeout(seconds)
                while part := line.recv(65536):
                    said += part
        except (TimeoutError, ConnectionError, ssl.SSLError):
            pass  # the server may hang up on whoever lies
        return said


@pytest.fixture
def caller(https_server, connect, delegate, draft_body) -> Caller:
    _, agent = connect(delegate)
    return Caller(https_server, str(agent.credential), draft_body)


def read_statuses(said: bytes) -> list[int]:
    """Return the status of each answer; each refusal of the application must be the interface's."""
    statuses = []
    for answer in said.split(b"HTTP/1.1 ")[1:]:
        statuses.append(int(answer[:3]))
        head, _, body = answer.partition(b"\r\n\r\n")
        length_told = re.search(rb"content-length: *([0-9]+)", head, re.IGNORECASE)
        is_whole = length_told is not None and len(body) >= int(length_told[1])
        if b"x-request-id" in head.lower() and statuses[-1] >= 400 and is_whole:
            assert set(json.loads(body)) == {"error"}
    return statuses


def references() -> set[str]:
    return set(Document.objects.values_list("reference", flat=True))


def test_a_request_that_lies_about_its_length_writes_nothing(caller):
    honest: set[str] = set()
    without_end: set[str] = set()

    @try_hard(40)
    @given(st.sampled_from([*HONEST, *WITHOUT_END, *LYING]), st.integers(1, 7))
    def fuzz(kind: str, number: int) -> None:
        reference = f"r{caller.sent:06d}"
        head, body = caller.write(
            (HONEST | WITHOUT_END | LYING)[kind], reference=reference, number=number
        )
        seconds = IMPATIENCE_SECONDS if kind in WAITING else PATIENCE_SECONDS
        statuses = read_statuses(caller.talk(head + body, seconds=seconds))
        assert max(statuses, default=0) < 500
        if kind in HONEST:
            assert statuses == [201]
            honest.add(reference)
        else:
            assert 201 not in statuses
        if kind in WITHOUT_END:
            without_end.add(reference)

    fuzz()
    assert honest <= references() <= honest | without_end


def test_a_spoilt_head_breaks_no_server(caller):
    written: set[str] = set()

    @try_hard(30)
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        reference = f"r{caller.sent:06d}"
        head, body = caller.write(HONEST["length"], reference=reference, number=0)
        for _ in range(data.draw(st.integers(1, 3))):
            head = data.draw(spoilt_bytes(head))
        said = caller.talk(head + body, seconds=IMPATIENCE_SECONDS)
        statuses = read_statuses(said)
        # Elsewhere are pages, and this server has no static files collected to show them with.
        if re.match(rb"\S+ /api/v1[/? ]", head):
            assert max(statuses, default=0) < 500
        assert statuses.count(201) <= 1
        written.add(reference)

    fuzz()
    head, body = caller.write(HONEST["length"], reference="last", number=0)
    assert read_statuses(caller.talk(head + body)) == [201]
    # However late a server was with an answer: no request wrote more than its own draft.
    assert references() <= written | {"last"}
    assert Document.objects.count() == len(references())
