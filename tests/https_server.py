"""The service in a process of its own, over HTTPS as in production, on the tests' database."""

import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import trustme
from django.db import connection

from tests.ports import free_port

HOST = "127.0.0.1"
START_SECONDS = 60
HIGH_LIMIT = "100000"


@dataclass(frozen=True)
class HttpsServer:
    """The URL of the service, and the PEM file of the authority of its certificate."""

    base_url: str
    authority: Path

    @property
    def mcp_url(self) -> str:
        return f"{self.base_url}/mcp"

    @property
    def ssl_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.authority)


@pytest.fixture(scope="session")
def _https_server(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HttpsServer]:
    folder = tmp_path_factory.mktemp("https_server")
    port = free_port()
    server = HttpsServer(f"https://localhost:{port}", _make_certificate(folder))
    environment = os.environ | {
        "BASE_URL": server.base_url,
        "DATABASE_URL": url_of_database(),
        "LIMIT_PER_CONNECTION": HIGH_LIMIT,
        "LIMIT_PER_ADDRESS": HIGH_LIMIT,
        "LIMIT_REGISTER": HIGH_LIMIT,
        "LIMIT_TOKEN": HIGH_LIMIT,
    }
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  our own command
            _command(folder, port), env=environment, stdout=output, stderr=output
        )
    try:
        _wait_until_ready(process, server, log)
        yield server
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def https_server(_https_server: HttpsServer, transactional_db: None, settings: Any) -> HttpsServer:
    """Serve what this test commits, without reaching rate limits."""
    # Connections that the test makes are bound to this URL.
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, "BASE_URL": _https_server.base_url}
    return _https_server


def _command(folder: Path, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws"),
        *("--host", HOST, "--port", str(port), "--blocking-threads", "4"),
        *("--ssl-certificate", str(folder / "server.pem")),
        *("--ssl-keyfile", str(folder / "server.key")),
        "config.wsgi:application",
    ]


def _make_certificate(folder: Path) -> Path:
    issuer = trustme.CA()
    issued = issuer.issue_cert("localhost", not_after=datetime.now(UTC) + timedelta(days=1))
    issuer.cert_pem.write_to_path(folder / "ca.pem")
    issued.private_key_pem.write_to_path(folder / "server.key")
    for part in issued.cert_chain_pems:
        part.write_to_path(folder / "server.pem", append=True)
    return folder / "ca.pem"


def url_of_database() -> str:
    """Return the DATABASE_URL of the database that Django made for the tests."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{quote(name)}").geturl()


def _wait_until_ready(process: subprocess.Popen[Any], server: HttpsServer, log: Path) -> None:
    """Wait for the first answer, which comes once the application is loaded."""
    deadline = time.monotonic() + START_SECONDS
    port = urlsplit(server.base_url).port
    while True:
        caller = HTTPSConnection(
            "localhost", port, timeout=START_SECONDS, context=server.ssl_context
        )
        try:
            with closing(caller):
                caller.request("GET", "/")
                caller.getresponse()
        except ConnectionRefusedError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service does not start:\n{log.read_text()}") from None
            time.sleep(0.05)
        else:
            return
