"""What Prometheus is told: counts by closed sets of words, of one process or of all."""

import json
import os
import re
import stat
import subprocess
import sys
import time
import urllib.request
from io import BytesIO
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, generate_latest

from agent_access.approvals.models import Decision
from agent_access.credentials import make_credential
from agent_access.errors import ToolError
from agent_access.models.audit import Transport
from agent_access.tools import registry
from config.environment import PROJECT_FOLDER
from invoicing.visits import SignInOutcome
from tests.approvals import A_MINUTE_LATER, prepare
from tests.operations.wsgi import send
from tests.ports import free_port

SERIES = re.compile(r"^(http_\w+)\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')

# A process that counts some requests and then answers for itself, or for all in the folder.
PROCESS = """
import json, sys
from types import SimpleNamespace
from config.operations import metrics
from config.operations.daily_work import DailyWork
from config.operations.metrics import count_request, serve_metrics
metrics.PAUSE_SECONDS = 0.05
from agent_access.request_facts import RequestFacts
for _ in range(int(sys.argv[1])):
    count_request(RequestFacts(transport="mcp", tool="a.tool", outcome="ok"), status=200, seconds=1)
work = DailyWork(lambda: SimpleNamespace(
    audit_verified_at=None, chains_broken=8, backed_up_at=None))
work.read()
serve_metrics(sys.argv[2], work)
print("ready", flush=True)
sys.stdin.read()
"""


def read_series(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (name, frozenset(LABEL.findall(labels))): float(value)
        for name, labels, value in SERIES.findall(text)
    }


def count_of(transport: str, tool: str, outcome: str, status: str) -> float:
    labels = {"transport": transport, "tool": tool, "outcome": outcome, "status": status}
    series = read_series(generate_latest().decode())
    return series.get(("http_requests_total", frozenset(labels.items())), 0)


CALLS = [
    ("/api/v1/customers", True, ("http", "customers.search", "ok", "200")),
    ("/api/v1/customers?limit=0", True, ("http", "customers.search", "validation_failed", "422")),
    ("/api/v1/customers", False, ("http", "none", "none", "401")),
    ("/sign-in", False, ("none", "none", "none", "200")),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("url", "is_known", "labels"), CALLS)
def test_a_request_is_counted_by_its_way_tool_outcome_and_status(agent, url, is_known, labels):
    before = count_of(*labels)
    path, _, query = url.partition("?")
    credential = agent.credential if is_known else None
    send("GET", path, credential=credential, QUERY_STRING=query)
    assert count_of(*labels) == before + 1


@pytest.mark.django_db
def test_an_mcp_call_is_counted_by_its_outcome_and_not_by_its_200_alone(agent):
    labels = ("mcp", "customers.search", "validation_failed", "200")
    before = count_of(*labels)
    call = {"name": "customers_search", "arguments": {"limit": 0}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
    send(
        "POST",
        "/mcp",
        credential=agent.credential,
        CONTENT_TYPE="application/json",
        CONTENT_LENGTH=str(len(body)),
        HTTP_ACCEPT="application/json, text/event-stream",
        HTTP_MCP_PROTOCOL_VERSION="2025-06-18",
        **{"wsgi.input": BytesIO(body)},
    )
    assert count_of(*labels) == before + 1


@pytest.mark.django_db
def test_the_time_to_a_decision_is_measured_by_what_was_decided(
    delegate, draft, django_capture_on_commit_callbacks
):
    def read() -> list[float]:
        names = ("approval_decision_seconds_count", "approval_decision_seconds_sum")
        labels = {"decision": "rejected"}
        return [REGISTRY.get_sample_value(name, labels) or 0 for name in names]

    count, seconds = read()
    asked = prepare(draft, user=delegate)
    with django_capture_on_commit_callbacks(execute=True):
        asked.decide(Decision.REJECTED, now=A_MINUTE_LATER)
    assert read() == [count + 1, seconds + 60]


@pytest.mark.django_db
def test_nothing_that_was_sent_becomes_a_label(agent):
    secret = make_credential()
    for path in (f"/{secret}", f"/api/v1/{secret}", f"/api/v1/documents/{secret}"):
        send("GET", path, credential=agent.credential)
        send(secret, path, credential=secret, HTTP_USER_AGENT=secret)
    told = generate_latest().decode()
    assert secret not in told
    labels = [label for _, labels, _ in SERIES.findall(told) for label in LABEL.findall(labels)]
    allowed = {
        "transport": {*map(str, Transport), "none"},
        "tool": {*(tool.name for tool in registry), "tools.list", "none"},
        "outcome": {*(error.code for error in all_refusals()), *SignInOutcome, "ok", "none"},
    }
    for name, value in labels:
        assert value in allowed.get(name, {value}), (name, value)
        assert name in {*allowed, "status", "le"}


def all_refusals() -> set[type[ToolError]]:
    found, todo = set(), [ToolError]
    while todo:
        kinds = todo.pop().__subclasses__()
        todo += kinds
        found |= {kind for kind in kinds if hasattr(kind, "code")}
    return found


def start(folder: Path | None, count: int, address: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT_FOLDER)}
    if folder is not None:
        environment["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    process = subprocess.Popen(  # noqa: S603  our own command
        [sys.executable, "-c", PROCESS, str(count), address],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def scrape(address: str) -> float:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    assert "\naudit_broken_chains 8.0\n" in text, "as every process knows it"
    series = read_series(text)
    labels = {"transport": "mcp", "tool": "a.tool", "outcome": "ok", "status": "200"}
    return series["http_requests_total", frozenset(labels.items())]


@pytest.mark.sqlite
@pytest.mark.parametrize(("is_shared", "told"), [(False, 3), (True, 7)])
def test_the_first_of_two_processes_answers_for_both_if_they_share_a_folder(
    tmp_path, is_shared, told
):
    folder = tmp_path if is_shared else None
    address = f"127.0.0.1:{free_port()}"
    first, second = start(folder, 3, address), start(folder, 4, address)
    try:
        assert scrape(address) == told
    finally:
        outputs = [process.communicate()[1] for process in (first, second)]
    assert outputs == ["", ""], "that is as usual"


@pytest.mark.sqlite
def test_a_process_says_why_it_cannot_have_an_address_that_nobody_took():
    with start(None, 0, f"192.0.2.1:{free_port()}") as process:
        assert process.communicate()[1] == (
            "This process cannot serve metrics at METRICS_ADDRESS yet:"
            " Cannot assign requested address.\n"
        )


@pytest.mark.sqlite
def test_a_process_that_came_second_answers_once_the_first_has_ended(tmp_path):
    address = f"127.0.0.1:{free_port()}"
    first, second = start(tmp_path, 3, address), start(tmp_path, 4, address)
    try:
        first.communicate()
        assert scrape_when_answered(address) == 7
    finally:
        second.communicate()


def scrape_when_answered(address: str) -> float:
    deadline = time.monotonic() + 60
    while True:
        try:
            return scrape(address)
        except OSError:
            assert time.monotonic() < deadline, "nobody took the address over"
            time.sleep(0.02)


@pytest.mark.sqlite
def test_a_process_makes_the_common_folder_if_it_was_cleaned_away(tmp_path):
    folder, address = tmp_path / "metrics", f"127.0.0.1:{free_port()}"
    with start(folder, 0, address) as process:
        assert process.communicate()[1] == ""
    assert stat.filemode(folder.stat().st_mode) == "drwx------"


@pytest.mark.sqlite
def test_the_service_names_its_own_process_beside_the_counts():
    assert "process_cpu_seconds_total" in generate_latest().decode()
    assert re.search("http_.*_created", generate_latest().decode()) is None
