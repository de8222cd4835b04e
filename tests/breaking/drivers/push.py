"""A push service over TLS on this machine, in changing moods, and the browsers that it reaches."""

import socket
import ssl
import threading
import time
from contextlib import suppress

import trustme
from typing_extensions import override

from tests.breaking.drivers.mailbox import Mailbox
from tests.breaking.drivers.moods import Mood, Moods
from tests.telling.push_service import PushBrowser

NAME = "localhost"
# Longer than the service waits.
HANGING_SECONDS = 8
REQUEST_BYTES = 16 * 1024
EMPTY = b"\r\nContent-Length: 0\r\n\r\n"
# RFC 8030 section 7.3, and what services answer beside it, where a browser has left.
GONE = {"404": b"HTTP/1.1 404 Not Found" + EMPTY, "410": b"HTTP/1.1 410 Gone" + EMPTY}
ANSWERS = {
    Mood.WELL: b"HTTP/1.1 201 Created" + EMPTY,
    Mood.BUSY: b"HTTP/1.1 503 Service Unavailable" + EMPTY,
    Mood.LIES: b"HTTP/1.1 500 Internal Server Error" + EMPTY,
    Mood.DROPS: b"HTTP/1.1 2",
}


class Browser(PushBrowser):
    """A browser that subscribed, by the port of its push service."""

    def __init__(self, port: int, path: str) -> None:
        super().__init__(None, path)  # type: ignore[arg-type]  # it needs no running service
        self._port = port

    @property
    @override
    def endpoint(self) -> str:
        return f"https://{NAME}:{self._port}{self.path}"


class PushServer:
    """Reads each message as its browser would, and answers as it is in the mood to."""

    def __init__(self, authority: trustme.CA, mailbox: Mailbox, moods: Moods) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(NAME).configure_cert(self._context)
        self._mailbox, self._moods = mailbox, moods
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._browsers: dict[str, Browser] = {}
        self._gone: dict[str, bytes] = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def add_browser(self, path: str, *, gone: str = "") -> Browser:
        """Add a browser that is reached, or of which it is said by this status that it left."""
        if gone:
            self._gone[path] = GONE[gone]
        self._browsers[path] = Browser(self.port, path)
        return self._browsers[path]

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                plain, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[plain], daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        begun = time.monotonic()
        plain.settimeout(HANGING_SECONDS)
        with (
            suppress(OSError),
            plain,
            self._context.wrap_socket(plain, server_side=True) as stream,
        ):
            head, body = _read(stream)
            path = head.split(b" ", 2)[1].decode()
            if path in self._gone:
                self._mailbox.turn_away(path)
                stream.sendall(self._gone[path])
                self._mailbox.turn_away(path, is_told=True)
                stream.unwrap()
                return
            text = self._browsers[path].decrypt(body).decode()
            mood = self._moods.choose()
            self._mailbox.take(path, text, mood)
            if mood == Mood.HANGS:
                time.sleep(HANGING_SECONDS)
                return
            stream.sendall(ANSWERS[mood])
            if mood == Mood.WELL:
                self._mailbox.confirm(path, text, seconds=time.monotonic() - begun)
                stream.unwrap()


def _read(stream: ssl.SSLSocket) -> tuple[bytes, bytes]:
    """Return the head and the body of a request; raise OSError for half of one."""
    received = b""
    while True:
        head, end, body = received.partition(b"\r\n\r\n")
        if end and len(body) >= _length_of(head):
            return head, body
        part = stream.recv(REQUEST_BYTES)
        if not part:
            raise ConnectionError
        received += part


def _length_of(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0
