"""An authority on this machine that stamps what it is sent, made with the program `openssl`."""

import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import trustme
from typing_extensions import override

REPLY = "application/timestamp-reply"
CONFIGURATION = """
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[signer]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
authorityKeyIdentifier = keyid
[authority]
serial = {folder}/serial
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
ess_cert_id_alg = sha256
"""


def openssl(*arguments: str, folder: Path) -> bytes:
    command = ["openssl", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)  # noqa: S603  our own command
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def make_authority(folder: Path) -> None:
    """Make a root, root.pem, and an authority that it vouches for."""
    (folder / "tsa.cnf").write_text(CONFIGURATION.format(folder=folder), encoding="utf-8")
    (folder / "serial").write_text("01\n", encoding="utf-8")
    new = ("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    days = ("-days", "3650", "-config", "tsa.cnf")
    root = ("-x509", "-extensions", "ca", "-subj", "/CN=Root")
    openssl(*new, *root, *days, "-keyout", "root.key", "-out", "root.pem", folder=folder)
    signer = ("-x509", "-extensions", "signer", "-subj", "/CN=Authority")
    by = ("-CA", "root.pem", "-CAkey", "root.key")
    openssl(*new, *signer, *by, *days, "-keyout", "tsa.key", "-out", "tsa.pem", folder=folder)


@dataclass
class Authority:
    """A running authority; `answer` is what it makes of a query, and may be changed."""

    folder: Path
    answer: Callable[[bytes], bytes] = bytes
    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    queries: list[bytes] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.folder / "root.pem"

    def stamp(self, query: bytes) -> bytes:
        """Return a stamp of what the query asks for."""
        (self.folder / "query").write_bytes(query)
        signer = ("-signer", "tsa.pem", "-inkey", "tsa.key")
        reply = ("ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query")
        return openssl(*reply, *signer, "-section", "authority", folder=self.folder)


@contextmanager
def run_authority(folder: Path, *, tls: trustme.CA | None = None) -> Iterator[Authority]:
    """Answer until the block ends: over plain HTTP, as many authorities do, or over TLS."""
    authority = Authority(folder)
    authority.answer = authority.stamp

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            authority.queries.append(query)
            body = authority.answer(query)
            self.send_response(authority.status)
            sent = {"Content-Type": REPLY, "Content-Length": str(len(body)), **authority.headers}
            for name, value in sent.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        scheme = "http"
        if tls is not None:
            scheme, context = "https", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.issue_cert("stamps.example").configure_cert(context)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        authority.url = f"{scheme}://stamps.example:{server.server_address[1]}/tsr"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield authority
        finally:
            server.shutdown()
            thread.join()
