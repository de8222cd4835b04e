"""The application served over HTTPS from this very process, for browsers."""

import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any, NamedTuple

import trustme
from cryptography.hazmat.primitives.hashes import SHA256, Hash
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import load_pem_x509_certificate
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


class Served(NamedTuple):
    """The port of the loopback address, and the public key that a browser is to trust."""

    port: int
    fingerprint: str


@contextmanager
def serve_https(host: str) -> Iterator[Served]:
    """Serve under a fresh certificate for the host."""
    issued = trustme.CA().issue_cert(host)
    certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(certificate)
    server = HttpsServer(certificate)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Served(server.server_port, _fingerprint(issued.cert_chain_pems[0].bytes()))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _fingerprint(pem: bytes) -> str:
    key = load_pem_x509_certificate(pem).public_key()
    digest = Hash(SHA256())
    digest.update(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))
    return b64encode(digest.finalize()).decode()
