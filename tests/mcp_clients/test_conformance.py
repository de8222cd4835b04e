"""The official conformance suite: all that a revision requires, but what the baseline explains."""

import re
from pathlib import Path

import pytest

from tests.mcp_clients.node_packages import SUITE, run_node

# What the clients see is the same on both databases: once is enough.
pytestmark = pytest.mark.sqlite

BASELINES = Path(__file__).parent / "conformance"

# The scenarios without a failure (some warn); a baseline that grew would show here.
HELD = {
    "2025-11-25": {
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "server-session-lifecycle",
        "server-sse-polling",
    },
    "2026-07-28": {
        "tools-list",
        "server-sse-multiple-streams",
        "sep-2164-resource-not-found",
        "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        "tasks-status-notifications",
        "http-header-validation",
    },
}


@pytest.mark.parametrize("revision", HELD)
def test_the_suite_finds_only_what_the_baseline_explains(proxied_url, tmp_path, revision):
    done = run_node(
        *(SUITE, "server", "--url", proxied_url, "--requirements", revision),
        *("--expected-failures", BASELINES / f"{revision}.yml", "--output-dir", tmp_path),
    )
    assert done.returncode == 0, done.stdout
    summary = done.stdout.split("=== SUMMARY ===")[1]
    assert set(re.findall(r"^✓ ([\w-]+):", summary, re.MULTILINE)) == HELD[revision]
