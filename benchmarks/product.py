"""The product itself: over HTTP and MCP, with every guard, limit and audit event."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.http_client import HttpClient, format_request
from benchmarks.servers import DEPLOYED_WORKERS, PROJECT, Server, granian_command, run_server
from benchmarks.subjects import (
    MCP_VERSION,
    Prepare,
    References,
    Step,
    Subject,
    make_draft_input,
    make_mcp_read,
)

APPLICATION = "config.wsgi:application"
BASE_URL = "https://invoices.example"
SECRET_KEY = "for-benchmarks-only-and-guarding-nothing-whatsoever"  # noqa: S105  it guards made-up data
# The product's own limits stay as they are, so the load comes from many connections and addresses.
CONNECTIONS = 400
REQUESTS_PER_ADDRESS = 50
# One start alone says more about the machine at that moment.
STARTS = 5


def environment(database_url: str) -> dict[str, str]:
    """Return the settings of the product behind a proxy, which the load generator plays."""
    return {
        "BASE_URL": BASE_URL,
        "SECRET_KEY": SECRET_KEY,
        "DATABASE_URL": database_url,
        "TRUSTED_PROXIES": "1",
    }


@contextmanager
def serve(database_url: str, folder: Path) -> Iterator["Product"]:
    """Serve the sample company."""
    settings = environment(database_url)
    os.environ.update(settings)
    for command in (
        ["collectstatic", "--noinput"],
        ["migrate", "--verbosity", "0"],
        ["load_sample_company", "--force", "--json"],
    ):
        subprocess.run(  # noqa: S603  our own command
            [sys.executable, "manage.py", *command], cwd=PROJECT, check=True, capture_output=True
        )
    one, deployed = (
        granian_command(APPLICATION, workers=workers) for workers in (1, DEPLOYED_WORKERS)
    )
    serve_with = partial(run_server, environment=settings, log=folder / "product.log")
    starts = []
    for _ in range(STARTS):
        with serve_with(one) as server:
            starts.append(server.start_seconds)
    with serve_with(one) as server, serve_with(deployed) as deployed_server:
        yield Product(server, deployed_server, start_seconds=median(starts))


class Product:
    """The product, served by one worker and as deployed, with credentials and sample records."""

    def __init__(self, server: Server, deployed_server: Server, *, start_seconds: float) -> None:
        import django  # noqa: PLC0415  the settings come from the environment that serve() sets

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup(set_prefix=False)
        from benchmarks.sample import Sample  # noqa: PLC0415  models need the settings

        self.server = server
        self._deployed_server = deployed_server
        self.start_seconds = start_seconds
        self.sample = Sample(CONNECTIONS)
        self._numbers = count()
        client = HttpClient(server.port)
        draft = make_draft_input(self.sample.references, lines=10)
        created = client.exchange(self._make_request("POST", "/api/v1/drafts", draft), status=201)
        self.document_id = json.loads(created)["data"]["id"]

    @property
    def references(self) -> References:
        return self.sample.references

    def subjects(self) -> list[Subject]:
        http = self._operations()
        mcp = {"read": http.pop("read over MCP")}
        cpu = self.server.cpu_seconds
        return [Subject("product", http, cpu), Subject("product over MCP", mcp, cpu)]

    def prepare(self, operation: str, amount: int) -> list[Step]:
        return self._operations()[operation](amount)

    def next_credential(self) -> str:
        return self.sample.connection(next(self._numbers))[1]

    def _operations(self) -> dict[str, Prepare]:
        return {
            "read": self._reads,
            "list": self._lists,
            "create 10": partial(self._creates, lines=10),
            "create 100": partial(self._creates, lines=100),
            "execute": self._executes,
            "read over MCP": self._mcp_reads,
        }

    def execute_steps(self, amount: int, clients: int) -> list[list[Step]]:
        """Return for each of the clients this amount of executions, on the deployed server."""
        return [self._executes(amount, server=self._deployed_server) for _ in range(clients)]

    def _reads(self, amount: int) -> list[Step]:
        path = f"/api/v1/documents/{self.document_id}"
        return self._send([self._make_request("GET", path) for _ in range(amount)])

    def _lists(self, amount: int) -> list[Step]:
        path = "/api/v1/documents?limit=25"
        return self._send([self._make_request("GET", path) for _ in range(amount)])

    def _creates(self, amount: int, *, lines: int) -> list[Step]:
        draft = make_draft_input(self.references, lines=lines)
        requests = [self._make_request("POST", "/api/v1/drafts", draft) for _ in range(amount)]
        return self._send(requests, status=201)

    def _executes(self, amount: int, *, server: Server | None = None) -> list[Step]:
        return self._send([self._make_execute_request() for _ in range(amount)], server=server)

    def _mcp_reads(self, amount: int) -> list[Step]:
        message = make_mcp_read(self.document_id)
        return self._send([self._make_request("POST", "/mcp", message) for _ in range(amount)])

    def _send(
        self, requests: list[bytes], *, status: int = 200, server: Server | None = None
    ) -> list[Step]:
        # A connection of its own, made last: servers close an idle one.
        client = HttpClient((server or self.server).port)
        return [partial(client.exchange, request, status=status) for request in requests]

    def _make_execute_request(self) -> bytes:
        number = next(self._numbers)
        connection, _ = self.sample.connection(number)
        approval_id, nonce = self.sample.approve(connection)
        path = f"/api/v1/approvals/{approval_id}/execute"
        return self._make_request("POST", path, {"nonce": nonce}, number=number)

    def _make_request(
        self, method: str, path: str, body: Any = None, *, number: int | None = None
    ) -> bytes:
        """Return a request as a proxy would pass it on, from the next address and connection."""
        number = next(self._numbers) if number is None else number
        _, credential = self.sample.connection(number)
        headers = {
            "Host": BASE_URL.removeprefix("https://"),
            "X-Forwarded-Proto": "https",
            "X-Forwarded-For": _address(number),
            "Authorization": f"Bearer {credential}",
            "Accept": "application/json, text/event-stream",
            "Idempotency-Key": f"bench-{number}",
            "MCP-Protocol-Version": MCP_VERSION,
        }
        return format_request(method, path, headers, json.dumps(body).encode() if body else b"")


def _address(number: int) -> str:
    _, third, fourth = (number // REQUESTS_PER_ADDRESS).to_bytes(3, "big")
    return f"127.0.{third}.{fourth}"
