"""The peer as it is measured: plain Django REST framework with Django OAuth Toolkit."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.http_client import HttpClient, format_request
from benchmarks.servers import DEPLOYED_WORKERS, PROJECT, Server, granian_command, run_server
from benchmarks.subjects import References, Step, Subject, make_draft_input

APPLICATION = "benchmarks.peers.drf.wsgi:application"
LISTED_DOCUMENTS = 120


@contextmanager
def serve(database_url: str, folder: Path, environment: dict[str, str]) -> Iterator["DrfPeer"]:
    """Serve the peer on a database of its own."""
    environment = environment | {"DATABASE_URL": database_url}
    prepared = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers.drf.prepare"],
        cwd=PROJECT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    one, deployed = (
        granian_command(APPLICATION, workers=workers) for workers in (1, DEPLOYED_WORKERS)
    )
    serve_with = partial(run_server, environment=environment, log=folder / "drf.log")
    with serve_with(one) as server, serve_with(deployed) as deployed_server:
        yield DrfPeer(server, deployed_server, json.loads(prepared.stdout))


class DrfPeer:
    """It writes no receipt and no audit event, and counts no limits."""

    def __init__(self, server: Server, deployed_server: Server, prepared: dict[str, Any]) -> None:
        self._server = server
        self._deployed_server = deployed_server
        self._token = prepared["token"]
        self._references = References(
            customer_id=prepared["customer_id"], tax_rate_ids=tuple(prepared["tax_rate_ids"])
        )
        self._document_ids = self._create(LISTED_DOCUMENTS)

    def subject(self) -> Subject:
        operations = {
            "read": self._reads,
            "list": self._lists,
            "create 10": partial(self._creates, lines=10),
            "create 100": partial(self._creates, lines=100),
            "execute": self._issues,
        }
        return Subject("DRF", operations, self._server.cpu_seconds)

    def issue_steps(self, amount: int, clients: int) -> list[list[Step]]:
        """Return for each of the clients this amount of issues, on the deployed server."""
        return [self._issues(amount, server=self._deployed_server) for _ in range(clients)]

    def _create(self, amount: int) -> list[str]:
        return [json.loads(step())["id"] for step in self._creates(amount, lines=10)]

    def _reads(self, amount: int) -> list[Step]:
        request = self._make_request("GET", f"/documents/{self._document_ids[0]}")
        return self._send([request] * amount)

    def _lists(self, amount: int) -> list[Step]:
        return self._send([self._make_request("GET", "/documents")] * amount)

    def _creates(self, amount: int, *, lines: int) -> list[Step]:
        request = self._make_request(
            "POST", "/documents", make_draft_input(self._references, lines=lines)
        )
        return self._send([request] * amount, status=201)

    def _issues(self, amount: int, *, server: Server | None = None) -> list[Step]:
        paths = [f"/documents/{document_id}/issue" for document_id in self._create(amount)]
        return self._send([self._make_request("POST", path, {}) for path in paths], server=server)

    def _send(
        self, requests: list[bytes], *, status: int = 200, server: Server | None = None
    ) -> list[Step]:
        client = HttpClient((server or self._server).port)
        return [partial(client.exchange, request, status=status) for request in requests]

    def _make_request(self, method: str, path: str, body: Any = None) -> bytes:
        headers = {"Host": "peer.example", "Authorization": f"Bearer {self._token}"}
        content = b"" if body is None else json.dumps(body).encode()
        return format_request(method, path, headers, content)
