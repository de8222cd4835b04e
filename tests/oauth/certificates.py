"""A certificate authority and HTTPS servers of strangers, on this machine."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import trustme

Reply = Callable[[ssl.SSLSocket], None]


@dataclass(frozen=True)
class Stranger:
    """A running server; `requests` collects the heads that it was sent."""

    port: int
    requests: list[bytes]


def send(*parts: bytes) -> Reply:
    """Reply with these bytes."""

    def reply(stream: ssl.SSLSocket) -> None:
        for part in parts:
            stream.sendall(part)

    return reply


def document(
    body: bytes, *headers: bytes, status: bytes = b"200 OK", kind: bytes = b"application/json"
) -> Reply:
    """Reply with a JSON document, or one of another kind."""
    length = b"Content-Length: %d" % len(body)
    head = b"\r\n".join([b"HTTP/1.1 " + status, b"Content-Type: " + kind, length, *headers])
    return send(head + b"\r\n\r\n" + body)


@contextmanager
def stranger(
    authority: trustme.CA, reply: Reply, *, name: str = "client.example"
) -> Iterator[Stranger]:
    """Serve every connection with the reply, until the block ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))
    requests: list[bytes] = []

    def serve(plain: socket.socket) -> None:
        with suppress(OSError), plain, context.wrap_socket(plain, server_side=True) as stream:
            requests.append(stream.recv(8192))
            reply(stream)
            with suppress(OSError):
                stream.unwrap()

    def accept() -> None:
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                threading.Thread(target=serve, args=[plain], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield Stranger(listener.getsockname()[1], requests)
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
