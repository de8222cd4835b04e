"""The peer as it is measured: FastMCP on uvicorn, its own server of choice."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.http_client import HttpClient, format_request
from benchmarks.servers import Server, run_server
from benchmarks.subjects import MCP_VERSION, Step, Subject, make_mcp_read

COMMAND = [
    *(sys.executable, "-m", "uvicorn", "--log-level", "error"),
    "benchmarks.peers.fastmcp_server:application",
]


@contextmanager
def serve(
    database_url: str, folder: Path, *, document_id: str, next_credential: Callable[[], str]
) -> Iterator[Subject]:
    """Serve the product's tables, to be read with the product's credentials."""
    environment = {"DATABASE_URL": database_url, "FASTMCP_CHECK_FOR_UPDATES": "off"}
    with run_server(COMMAND, environment, log=folder / "fastmcp.log") as server:
        read = partial(_reads, server, document_id, next_credential)
        yield Subject("FastMCP", {"read": read}, server.cpu_seconds)


def _reads(
    server: Server, document_id: str, next_credential: Callable[[], str], amount: int
) -> list[Step]:
    body = json.dumps(make_mcp_read(document_id)).encode()
    requests = [_make_request(next_credential(), server.port, body) for _ in range(amount)]
    client = HttpClient(server.port)
    return [partial(client.exchange, request) for request in requests]


def _make_request(credential: str, port: int, body: bytes) -> bytes:
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Authorization": f"Bearer {credential}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MCP_VERSION,
    }
    return format_request("POST", "/mcp", headers, body)
