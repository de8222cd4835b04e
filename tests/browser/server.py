"""The application served over HTTPS from this very process, for browsers."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import trustme
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from typing_extensions import override

LOOPBACK = "127.0.0.1"


class QuietHandler(WSGIRequestHandler):
    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the tests look at the pages."""


class HttpsServer(ThreadedWSGIServer):
    """Shakes hands in each request's thread, so that an idle caller holds nobody up."""

    # A test run ends only after the last thread has given its database connection back.
    daemon_threads = False

    def __init__(self, certificate: ssl.SSLContext) -> None:
        super().__init__((LOOPBACK, 0), QuietHandler, allow_reuse_address=False)
        self.socket = certificate.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )
        self.set_app(get_wsgi_application())

    @override
    def setup_environ(self) -> None:
        super().setup_environ()
        self.base_environ["HTTPS"] = "on"

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that hung up; a bug in a page answers 500."""


@contextmanager
def serve_https(host: str) -> Iterator[int]:
    """Serve under a fresh certificate for the host; yield the port of the loopback address."""
    certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert(host).configure_cert(certificate)
    server = HttpsServer(certificate)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
