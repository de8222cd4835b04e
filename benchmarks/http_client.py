"""An HTTP client that costs next to nothing, so that the figures are the server's."""

import socket
from collections.abc import Mapping
from typing import Any

CRLF = b"\r\n"
HEAD_END = CRLF + CRLF
LENGTH = b"\r\ncontent-length:"
LAST_CHUNK = b"0" + HEAD_END
BYTES_AT_ONCE = 65536


class UnexpectedAnswerError(Exception):
    """An answer that makes the whole run worthless."""


class HttpClient:
    """One connection that is kept open; a body has a length or comes in chunks."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._socket.close()

    def exchange(self, request: bytes, *, status: int = 200) -> bytes:
        """Send a request and return the body; raise UnexpectedAnswerError for another status."""
        self._socket.sendall(request)
        answer = self._socket.recv(BYTES_AT_ONCE)
        while HEAD_END not in answer:
            answer += self._receive()
        head, _, body = answer.partition(HEAD_END)
        body = self._read_body(head.lower(), body)
        if int(head[9:12]) != status:
            raise UnexpectedAnswerError((head + HEAD_END + body).decode(errors="replace"))
        return body

    def _read_body(self, head: bytes, body: bytes) -> bytes:
        length = head.partition(LENGTH)[2].partition(CRLF)[0]
        if length:
            while len(body) < int(length):
                body += self._receive()
            return body
        while not body.endswith(LAST_CHUNK):
            body += self._receive()
        return _join_chunks(body)

    def _receive(self) -> bytes:
        part = self._socket.recv(BYTES_AT_ONCE)
        if not part:
            raise UnexpectedAnswerError("the server hung up")
        return part


def _join_chunks(chunked: bytes) -> bytes:
    body = b""
    while chunked != LAST_CHUNK:
        size, _, rest = chunked.partition(CRLF)
        length = int(size, 16)
        body, chunked = body + rest[:length], rest[length + len(CRLF) :]
    return body


def format_request(method: str, path: str, headers: Mapping[str, Any], body: bytes = b"") -> bytes:
    """Return the bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + HEAD_END + body
