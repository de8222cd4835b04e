"""A push service on this machine, and a browser that reads what it delivers."""

import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import http_ece
import trustme
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.oauth.certificates import Reply, Stranger, send, stranger

# A private key for tests, as WEB_PUSH_KEY has it.
WEB_PUSH_KEY = urlsafe_b64encode(bytes(range(1, 33))).decode().rstrip("=")
HOST = "push.example"


def encode(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def reply_with(status: str) -> Reply:
    return send(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())


@dataclass
class PushService:
    """A running push service; `reply` is how it answers, and may be changed."""

    server: Stranger
    reply: Reply
    host: str = HOST

    @property
    def requests(self) -> list[bytes]:
        return self.server.requests

    def received(self) -> list[dict[str, str]]:
        """Return the header fields of each request, by their names in lower case."""
        heads = (each.partition(b"\r\n\r\n")[0].decode() for each in self.requests)
        lines = ([line.partition(": ") for line in head.split("\r\n")[1:]] for head in heads)
        return [{name.lower(): value for name, _, value in each} for each in lines]


@contextmanager
def run_push_service(authority: trustme.CA, *, host: str = HOST) -> Iterator[PushService]:
    services: list[PushService] = []

    def answer(stream: Any) -> None:
        services[0].reply(stream)

    with stranger(authority, answer, name=host) as server:
        services.append(PushService(server, reply_with("201 Created"), host))
        yield services[0]


@dataclass
class PushBrowser:
    """A browser that subscribed at a push service, and can read what was sent to it."""

    service: PushService
    path: str = "/send/one"
    auth: bytes = field(default_factory=lambda: os.urandom(16))
    key: Any = field(default_factory=lambda: generate_private_key(SECP256R1()))

    @property
    def endpoint(self) -> str:
        return f"https://{self.service.host}:{self.service.server.port}{self.path}"

    @property
    def subscription(self) -> dict[str, Any]:
        """What PushSubscription.toJSON() returns."""
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        keys = {"p256dh": encode(point), "auth": encode(self.auth)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def read(self) -> list[dict[str, str]]:
        """Return the messages that the service has for this browser, the first first."""
        line = f"POST {self.path} HTTP/1.1\r\n".encode()
        mine = [each for each in self.service.requests if each.startswith(line)]
        return [json.loads(self.decrypt(each.partition(b"\r\n\r\n")[2])) for each in mine]

    def decrypt(self, body: bytes) -> bytes:
        text: bytes = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth)
        return text


Subscribe = Callable[..., PushBrowser]
