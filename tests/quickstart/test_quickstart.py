"""The quickstart as a person meets it: a process, lines pasted into a shell, Ctrl-C."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.environment import PROJECT_FOLDER, Environment
from tests.ports import free_port
from tests.quickstart.person import Person
from tests.tool_table import TABLE

pytestmark = [
    # It brings its own database, and so runs once.
    pytest.mark.sqlite,
    pytest.mark.skipif(not shutil.which("curl"), reason="the lines to paste need curl"),
]

PATIENCE = 60
# Neither settings of the developer's shell nor packages of another house on its path.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in Environment.model_fields and name != "PYTHONPATH"
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the house, with a folder `var` of its own."""
    folder = tmp_path / "the house"
    # What Python compiled comes along, so that no process of a test does it again.
    elsewhere = shutil.ignore_patterns(".*", "tests", "docs", "benchmarks", "var")
    shutil.copytree(PROJECT_FOLDER, folder, ignore=elsewhere)
    return folder


@pytest.fixture
def port() -> int:
    return free_port()


def run_command(
    house: Path, *arguments: str, **settings: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  our own command
        [sys.executable, str(house / "manage.py"), *arguments],
        env=ENVIRONMENT | settings,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


class Quickstart:
    """A quickstart that has said that it is ready, with all it had said before."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        assert process.stdout
        self.said = ""
        for line in process.stdout:
            self.said += line
            if line.startswith("Ready: "):
                return
        pytest.fail(f"It was never ready: {self.said}")

    @property
    def lines_to_paste(self) -> str:
        lines = self.said.partition("is shown only now:\n\n")[2]
        return lines.partition("\nThe same for MCP clients")[0]

    @property
    def sign_in(self) -> tuple[str, str]:
        found = re.search(r"^Sign in: +(\S+) .*\n.*\nPassword: +(\S+) ", self.said, re.MULTILINE)
        assert found
        return found[1], found[2]

    def stop(self, kind: signal.Signals) -> tuple[str, int]:
        """Send SIGINT to all of its processes, as a terminal does; SIGTERM to the first alone."""
        signal_to = os.killpg if kind is signal.SIGINT else os.kill
        signal_to(self.process.pid, kind)
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return rest, self.process.returncode


@contextmanager
def started(house: Path, *arguments: str, **settings: str) -> Iterator[Quickstart]:
    command = [sys.executable, str(house / "manage.py"), "quickstart", *arguments]
    with subprocess.Popen(  # noqa: S603  our own command
        command,
        env=ENVIRONMENT | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield Quickstart(process)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


CALLS = [
    "GET 200 tools.list ok",
    "GET 200 customers.search ok",
    "POST 200 documents.preview ok",
    "POST 201 drafts.create ok",
    "GET 200 documents.get ok",
    "PUT 200 drafts.update ok",
    "POST 202 documents.issue_prepare ok",
    "GET 200 approvals.get ok",
    "POST 200 documents.issue ok",
]
# zsh reads no files of its owner's with -f; bash and dash read none unless they are interactive.
SHELLS = [shell for shell in (["bash"], ["dash"], ["zsh", "-f"]) if shutil.which(shell[0])]


def walk(shell: list[str], lines: str, person: Person) -> list[str]:
    """Paste the lines into the shell; when it shows the address of the review, approve there."""
    until, last, after = lines.partition("value review_url\n")
    told = []
    with subprocess.Popen(  # noqa: S603  the shells that people have
        [*shell, "-e", "-u"],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(until + last)
        process.stdin.flush()
        for line in process.stdout:
            told.append(line.rstrip())
            if line.startswith("https://"):
                person.approve(told[-1])
                break
        rest, _ = process.communicate(after, timeout=PATIENCE)
    return [*told, *rest.splitlines()]


def check_walk(told: list[str]) -> str:
    """Expect the names of the tools and the answers; return the invoice's number."""
    # Their names alone: what describes the tools would fill the window, and it comes first.
    names = [f'"name":"{tool}"' for tool in TABLE if tool != "tools.list"]
    assert [line for line in told if line.startswith('"name"')] == names
    answers = [json.loads(line) for line in told if line.startswith("{")]
    customers, preview, created, read, updated, prepared, approval, executed = answers
    assert [customer["name"] for customer in customers["data"]] == ["Altmühl Brauerei GmbH"]
    assert preview["data"]["grand_total"] == created["data"]["grand_total"] == "22313"
    assert read == created
    assert updated["data"]["reference"] == "PO 7"
    assert updated["data"]["lock_version"] == 2
    assert (prepared["data"]["status"], approval["data"]["status"]) == ("pending", "approved")
    assert executed["data"]["status"] == "executed"
    number: str = executed["data"]["number"]
    return number


def test_a_persons_first_minutes(house, port):
    with started(house, "--port", str(port)) as first:
        authority = house / "var" / "ca.pem"
        email, password = first.sign_in
        person = Person(email=email, password=password, authority=authority)
        numbers = [check_walk(walk(shell, first.lines_to_paste, person)) for shell in SHELLS]
        beside = run_command(house, "agent_access", "status", "--json")
        rest, status = first.stop(signal.SIGINT)

    assert [number[-4:] for number in numbers] == ["0085", "0086", "0087"][: len(SHELLS)]
    *lines, last = rest.splitlines()
    assert (last, status) == ("Stopped.", 0)
    # What the agent did is told as it happens, one line a call.
    calls = [line for line in lines if " /api/v1/" in line]
    assert [re.sub(r".*\] (\S+ )\S+ (\d+) .* ms", r"\1\2", line) for line in calls] == [
        f"{call} 127.0.0.1" for call in CALLS
    ] * len(SHELLS)
    assert json.loads(beside.stdout) == {
        "access_on": True,
        "live_connections": 1,
        "revoked_connections": 0,
        "missing": [],
    }

    with started(house, LOG_FORMAT="json") as second:
        assert "Sample company: kept as it is." in second.said
        assert "CREDENTIAL=ivc_...\n" in second.said
        address = f"https://localhost:{port}/api/v1/tools"
        subprocess.run(  # noqa: S603  as a person would
            ["curl", "-sS", "--cacert", str(house / "var" / "ca.pem"), address],  # noqa: S607  theirs
            capture_output=True,
            check=True,
        )
        rest, status = second.stop(signal.SIGTERM)
    *log, last = rest.splitlines()
    assert [json.loads(line)["path"] for line in log] == ["/api/v1/tools"]
    assert (last, status) == ("Stopped.", 0)


def test_a_taken_port_is_told_in_one_sentence(house):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        refused = run_command(house, "quickstart", "--port", str(number))

    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr == (
        f"Port {number} is taken: stop what uses it, or choose another with --port.\n"
    )
    assert not (house / "var" / "quickstart.env").exists()
