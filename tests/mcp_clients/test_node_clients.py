"""The official TypeScript clients and the Inspector, over HTTPS: they list, call, are refused."""

import json
import re

import pytest

from tests.mcp_clients.node_packages import INSPECTOR, run_node, run_script
from tests.tool_table import MCP_NAMES

# What the clients see is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

ERAS = ("legacy", "modern")

NULLABLE = "`type` is an array ("

FAILED_TOOL = 5
AUTHENTICATION_REQUIRED = 3


def expected(revision):
    return {
        "revision": revision,
        "tools": MCP_NAMES,
        "found": ["Acme Ltd"],
        "refused": [True, "validation_failed"],
        "unknown": -32602,
    }


@pytest.mark.parametrize(
    ("mode", "revision"),
    [("legacy", "2025-11-25"), ("auto", "2026-07-28")],
)
def test_the_typescript_client_lists_and_calls(node_environment, customer, mode, revision):
    told = run_script("list_and_call_v2.mjs", mode, environment=node_environment)
    assert told == expected(revision)


def test_the_typescript_sdk_of_yesterday_lists_and_calls(node_environment, customer):
    told = run_script("list_and_call_v1.mjs", environment=node_environment)
    assert told == expected("2025-11-25")


def inspect(environment, *arguments: str, era):
    return run_node(
        INSPECTOR,
        *("--cli", environment["MCP_URL"], "--transport", "http", "--stored-auth-only"),
        *("--header", f"Authorization: Bearer {environment['CREDENTIAL']}"),
        *("--protocol-era", era, "--format", "json", *arguments),
        environment=environment,
    )


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_blames_the_list_for_nothing_but_null(node_environment, era):
    done = inspect(node_environment, "--method", "tools/list", "--strict", era=era)
    assert done.returncode == 0, done.stderr
    # An optional value is published as `type: [.., null]`, which every client of this folder takes.
    blamed = re.findall(r"^  Issue: (.*)$", done.stderr, re.MULTILINE)
    assert [issue for issue in blamed if not issue.startswith(NULLABLE)] == []
    assert done.stderr.count("Warning: ") == len(blamed)
    tools = json.loads(done.stdout)["result"]["tools"]
    assert [tool["name"] for tool in tools] == MCP_NAMES


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_calls(node_environment, customer, era):
    search = ("--tool-name", "customers_search", "--tool-args-json", '{"search": "acme"}')
    done = inspect(node_environment, "--method", "tools/call", *search, era=era)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["structuredContent"]["data"][0]["name"] == "Acme Ltd"


def test_the_inspector_tells_a_failed_tool_from_a_closed_door(node_environment):
    search = ("--tool-name", "customers_search", "--tool-args-json", '{"limit": 0}')
    failed = inspect(node_environment, "--method", "tools/call", *search, era="auto")
    stranger = {**node_environment, "CREDENTIAL": "wrong"}
    refused = inspect(stranger, "--method", "tools/list", era="auto")
    assert (failed.returncode, refused.returncode) == (FAILED_TOOL, AUTHENTICATION_REQUIRED)
