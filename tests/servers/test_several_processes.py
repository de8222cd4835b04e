"""Two processes on one PostgreSQL and one Valkey are one service, whatever stops in between."""

import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

import pytest

from tests.agents import Answer
from tests.servers.installation import Installation, Process, wait_until

pytestmark = pytest.mark.postgresql

QUOTA = 5
HIGH_LIMIT = "1000000"
# A crash among a thousand shows no more than among these; ./dev break goes through many thousands.
WRITES = 300
THREADS = 8
WRITES_BEFORE_THE_CRASH = 100
PAUSE_SECONDS = 0.1


@pytest.fixture(scope="module")
def pair(installation: Installation):
    """Two processes whose limits can be reached."""
    quotas = {"LIMIT_PER_CONNECTION": str(QUOTA), "LIMIT_PER_ADDRESS": HIGH_LIMIT}
    with installation.serve(2, **quotas) as processes:
        yield processes


@pytest.fixture(scope="module")
def roomy_pair(installation: Installation):
    """Two processes without limits to speak of."""
    quotas = {"LIMIT_PER_CONNECTION": HIGH_LIMIT, "LIMIT_PER_ADDRESS": HIGH_LIMIT}
    with installation.serve(2, **quotas) as processes:
        yield processes


def remaining(answer: Answer) -> int:
    """Return what the connection may still ask for in this minute."""
    told = re.search(r'"connection";r=(\d+)', answer.headers["ratelimit"])
    assert told is not None
    return int(told[1])


def spend(installation: Installation, processes: list[Process]) -> list[tuple[int, int]]:
    """Call in turns with a new connection; return status and allowance of each call."""
    _, credential = installation.connect("Spender")
    agents = [process.agent(credential) for process in processes]
    answers = [agents[turn % 2].call("tools.list") for turn in range(QUOTA + 2)]
    return [(answer.status, remaining(answer)) for answer in answers]


@pytest.mark.requirement("limit.per_connection")
def test_a_limit_holds_across_both_processes(installation, pair):
    one_window = [(200, left) for left in reversed(range(QUOTA))] + [(429, 0)] * 2
    # A window may end between two calls, but not again and again.
    tries = (spend(installation, pair) for _ in range(3))
    assert one_window in tries


@pytest.mark.requirement("revocation.stops_calls")
def test_a_revocation_in_one_process_stops_the_other_at_once(installation, roomy_pair):
    connection_id, credential = installation.connect("Short-lived")
    agents = [process.agent(credential) for process in roomy_pair]
    assert [agent.call("tools.list").status for agent in agents] == [200, 200]

    installation.manage("revoke_connection", connection_id)

    refusals = [agent.call("tools.list") for agent in agents]
    assert [(each.status, each.code) for each in refusals] == [(401, "unauthenticated")] * 2


@pytest.mark.requirement("error.unavailable")
def test_without_the_cache_nothing_is_open_and_with_it_all_goes_on(installation, roomy_pair):
    _, credential = installation.connect("Patient")
    agents = [process.agent(credential) for process in roomy_pair]
    assert [agent.call("tools.list").status for agent in agents] == [200, 200]

    installation.valkey.stop()
    try:
        refusals = [agent.call("tools.list") for agent in agents]
        wait_until(lambda: [each.probe("/readyz")[0] for each in roomy_pair] == [503, 503])
    finally:
        installation.valkey.start()

    assert [(each.status, each.code) for each in refusals] == [(503, "unavailable")] * 2
    assert [agent.call("tools.list").status for agent in agents] == [200, 200]
    wait_until(lambda: [each.probe("/readyz") for each in roomy_pair] == [(200, b"ok")] * 2)


@dataclass
class Writers:
    """Writes drafts through both processes, each again with its key until it is answered."""

    processes: list[Process]
    credentials: list[str]
    customer_id: str
    answers: dict[int, Answer] = field(default_factory=dict)
    refusals: list[tuple[int, str]] = field(default_factory=list)
    is_stopped: bool = False
    pause: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def write(self, number: int) -> None:
        turn = number
        while not self.is_stopped:
            turn += 1
            try:
                answer = self._try(number, self.processes[turn % 2])
            except (OSError, HTTPException):
                continue  # whether it was saved is not known
            if self._note(number, answer):
                return
            self.pause.wait(PAUSE_SECONDS)

    def _try(self, number: int, process: Process) -> Answer:
        agent = process.agent(self.credentials[number % len(self.credentials)])
        line = {"description": "Consulting", "quantity": "1", "unit_price": "100"}
        body = {
            "customer_id": self.customer_id,
            "currency_code": "EUR",
            "issue_date": "2026-11-21",
            "due_date": "2026-12-21",
            "line_items": [line],
            "reference": f"write {number}",
        }
        return agent.call("drafts.create", body, key=f"write-{number}")

    def _note(self, number: int, answer: Answer) -> bool:
        with self.changed:
            if answer.status == 201:
                self.answers[number] = answer
            else:
                self.refusals.append((answer.status, answer.code))
            self.changed.notify_all()
        return answer.status == 201

    def wait_for(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.answers) >= count, timeout=60)

    def wait_for_refusals(self, count: int) -> None:
        with self.changed:
            seen = len(self.refusals)
            assert self.changed.wait_for(lambda: len(self.refusals) >= seen + count, timeout=60)


@pytest.mark.prove  # in the ordinary run tests/breaking crashes the database, too
@pytest.mark.requirement("error.unavailable", "idempotency.identical_retry")
def test_a_crash_of_the_database_loses_and_doubles_no_write(installation, roomy_pair):
    [(customer_id,)] = installation.query(
        "SELECT id FROM invoices_customer WHERE is_active ORDER BY id LIMIT 1"
    )
    credentials = [installation.connect(f"Writer {number}")[1] for number in range(4)]
    writers = Writers(roomy_pair, credentials, str(customer_id))

    with ThreadPoolExecutor(THREADS) as threads:
        try:
            done = [threads.submit(writers.write, number) for number in range(WRITES)]
            writers.wait_for(WRITES_BEFORE_THE_CRASH)
            installation.cluster.stop(signal.SIGQUIT)
            writers.wait_for_refusals(THREADS)
            wait_until(lambda: [each.probe("/readyz")[0] for each in roomy_pair] == [503, 503])
            installation.cluster.start()
            for write in done:
                write.result(timeout=120)
        finally:
            writers.is_stopped = True

    assert set(writers.refusals) == {(503, "unavailable")}
    assert_each_is_saved_once(installation, writers)
    installation.manage("verify_audit")  # fails at the first break
    wait_until(lambda: [each.probe("/readyz") for each in roomy_pair] == [(200, b"ok")] * 2)


def assert_each_is_saved_once(installation: Installation, writers: Writers) -> None:
    saved: list[tuple[Any, ...]] = installation.query(
        "SELECT reference, id FROM invoices_document WHERE reference LIKE 'write %'"
    )
    told = {f"write {number}": answer.data["id"] for number, answer in writers.answers.items()}
    assert len(told) == WRITES
    assert {reference: str(document_id) for reference, document_id in saved} == told
    assert len(saved) == WRITES
    receipts = installation.query(
        "SELECT count(*), count(DISTINCT (connection_id, key)) FROM agent_access_receipt"
        " WHERE key LIKE 'write-%'"
    )
    assert receipts == [(WRITES, WRITES)]


def test_the_log_of_all_this_is_json_and_holds_no_credential(installation, roomy_pair):
    _, credential = installation.connect("Last")
    for process in roomy_pair:
        process.agent(credential).call("tools.list")
        lines = process.log_lines()
        assert {"time", "level", "logger", "message"} <= set.intersection(*map(set, lines))
        assert credential.removeprefix("ivc_") not in process.log.read_text()
