"""A small proxy that adds credential and TLS, which the conformance suite knows nothing of."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

from tests.https_server import HttpsServer

# Between two parties only (RFC 9110 section 7.6.1), or said anew by the proxy.
NOT_PASSED_ON = {"host", "connection", "transfer-encoding", "content-length", "authorization"}


@dataclass(frozen=True)
class Proxy:
    """The address of the MCP endpoint, and the method in each request's message so far."""

    url: str
    methods: list[str]


@contextmanager
def run_proxy(server: HttpsServer, credential: str) -> Iterator[Proxy]:
    """Serve on this machine until the block ends."""

    class Handler(CredentialProxy):
        target = server
        authorization = f"Bearer {credential}"
        methods: list[str] = []

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield Proxy(f"http://localhost:{proxy.server_port}/mcp", Handler.methods)
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


class CredentialProxy(BaseHTTPRequestHandler):
    """Passes every request on with the credential, and every answer back as it is."""

    protocol_version = "HTTP/1.1"
    target: HttpsServer
    authorization: str
    methods: list[str]

    def pass_on(self) -> None:
        body = self._read_body()
        self.methods.append(json.loads(body)["method"] if body else self.command)
        fields = {
            name: value for name, value in self.headers.items() if name.lower() not in NOT_PASSED_ON
        }
        fields["Authorization"] = self.authorization
        address = urlsplit(self.target.base_url)
        upstream = HTTPSConnection(
            str(address.hostname), address.port, context=self.target.ssl_context, timeout=30
        )
        with closing(upstream):
            upstream.request(self.command, self.path, body, fields)
            answer = upstream.getresponse()
            self._answer(answer.status, answer.getheaders(), answer.read())

    do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = pass_on  # noqa: N815  http.server's names

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, fields: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in fields:
            if name.lower() not in NOT_PASSED_ON:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
