"""The TypeScript client, the Inspector and the conformance suite sign in, over HTTPS."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import urlencode

import pytest

from agent_access.models import Connection
from agent_access.oauth.client_metadata import ClientMetadata
from agent_access.oauth.models import AccessToken, Application
from agent_access.oauth.registration import client_fields
from tests.https_server import HttpsServer
from tests.mcp_clients.node_packages import INSPECTOR, SUITE, WANTED, start_node
from tests.tool_table import MCP_NAMES

# What the clients see is the same on both databases; tests/oauth asks both.
pytestmark = pytest.mark.sqlite

RETURN_ADDRESS = "http://127.0.0.1:33419/callback"


@pytest.fixture
def environment(_node: None, https_server: HttpsServer) -> Mapping[str, str]:
    """What a Node client must be told that has no credential."""
    return {
        "NODE_EXTRA_CA_CERTS": str(https_server.authority),
        "MCP_URL": https_server.mcp_url,
        "RETURN_ADDRESS": RETURN_ADDRESS,
    }


@contextmanager
def running(*arguments: Any, environment: Mapping[str, str]) -> Iterator[Any]:
    with start_node(*arguments, environment=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def find_address(output: IO[str]) -> str:
    """Read on until the program says which address is to be opened."""
    for line in output:
        if found := re.search(r"https://\S+/oauth/authorize\?\S+", line):
            return found[0]
    raise AssertionError("no address was printed")


def come_back(answer: Mapping[str, str], address: str) -> None:
    """Open the program's return address, as the browser would."""
    with urllib.request.urlopen(f"{address}?{urlencode(answer)}", timeout=10) as page:  # noqa: S310  a loopback address
        page.read()


def test_the_typescript_client_signs_in_and_refreshes(environment, decide):
    script = (WANTED / "sign_in_v2.mjs").read_text(encoding="utf-8")
    arguments = ("--input-type=module", "--eval", script)
    with running(*arguments, environment=environment) as process:
        answer = decide(find_address(process.stdout))
        process.stdin.write(urlencode(answer) + "\n")
        process.stdin.flush()
        told = json.loads(process.stdout.readline() or process.stderr.read())
    assert told == {"isStranger": True, "tools": MCP_NAMES, "again": MCP_NAMES, "isRotated": True}
    assert Connection.objects.get().revoked_at is None
    assert AccessToken.objects.count() == 2


def test_the_inspector_signs_in(environment, decide, tmp_path):
    told = {**environment, "MCP_AUTO_OPEN_ENABLED": "true", "MCP_STORAGE_DIR": str(tmp_path)}
    arguments = (
        *(INSPECTOR, "--cli", environment["MCP_URL"], "--transport", "http"),
        *("--method", "tools/list", "--format", "json"),
    )
    with running(*arguments, environment=told) as process:
        address = find_address(process.stderr)
        come_back(decide(address), Application.objects.get().return_addresses[0])
        listed = json.loads(process.stdout.read())
    assert [tool["name"] for tool in listed["result"]["tools"]] == MCP_NAMES
    assert Connection.objects.get().client_host in {"127.0.0.1", "localhost"}


def test_the_conformance_suite_finds_no_fault_in_the_authorization_server(
    environment, https_server, decide: Callable[[str], dict[str, str]], tmp_path
):
    port = 33420
    address = f"http://127.0.0.1:{port}/callback"
    client = Application.objects.create(
        registration_source="dcr", **client_fields(ClientMetadata("Conformance", (address,)))
    )
    arguments = (
        *(SUITE, "authorization", "--url", https_server.base_url, "--port", str(port)),
        *("--client-id", client.client_id, "--resource", https_server.mcp_url),
        *("--spec-version", "2026-07-28", "-o", str(tmp_path)),
    )
    with running(*arguments, environment=environment) as process:
        come_back(decide(find_address(process.stdout)), address)
        summary = process.stdout.read()
        process.wait(timeout=60)
        assert process.returncode == 0, summary
    checks = [json.loads(path.read_text()) for path in tmp_path.rglob("checks.json")]
    statuses = [check["status"] for scenario in checks for check in scenario]
    assert len(checks) == 2
    assert set(statuses) <= {"SUCCESS", "INFO"}, checks
