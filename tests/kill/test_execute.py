"""The server is killed (SIGKILL) between any two statements of an execution.

What is left is nothing or everything, and the retry with the same key tells the truth.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any, NamedTuple

import pytest
from django.utils import timezone

from agent_access.models import AuditEvent, ChainHead
from agent_access.verification import find_breaks
from config.environment import PROJECT_FOLDER
from invoicing.models import Document, NumberSeries
from invoicing.services.drafts import ConnectionRef
from tests.agents import HOST
from tests.approvals import Prepared, prepare
from tests.factories import make_draft
from tests.https_server import url_of_database
from tests.kill.server import ANSWERED
from tests.snapshots import take_snapshot

pytestmark = [pytest.mark.django_db(transaction=True)]

# Fewer mean that the counter misses statements, unless the product makes fewer by now.
FEWEST_STATEMENTS = 9


class Answer(NamedTuple):
    status: int
    is_replay: bool
    body: bytes


@pytest.fixture
def port(transactional_db) -> Iterator[int]:
    """Serve on the tests' own database, as behind a proxy that ends TLS."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = {
            "DATABASE_URL": url_of_database(),
            "TRUSTED_PROXIES": "1",
            "LIMIT_PER_CONNECTION": "100000",
            "LIMIT_PER_ADDRESS": "100000",
        }
        server = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", "tests.kill.server", str(listening.fileno())],
            cwd=PROJECT_FOLDER,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", **settings},
            pass_fds=[listening.fileno()],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield listening.getsockname()[1]
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.communicate()


@pytest.fixture
def approve(delegate, customer, connection):
    """Return a function that makes another approved approval."""

    def approve_another() -> Prepared:
        draft = make_draft(user=delegate, customer=customer)
        maker = ConnectionRef(connection.id, connection.name)
        prepared = prepare(draft, user=delegate, connection=maker, now=timezone.now())
        prepared.decide(now=timezone.now())
        return prepared

    return approve_another


def execute(
    port: int, credential: str, prepared: Prepared, *, kill_after: str = ""
) -> Answer | None:
    """Execute with the approval's own key; None where the server died without an answer."""
    headers = {
        "Host": HOST,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": "192.0.2.1",
        "Authorization": f"Bearer {credential}",
        "Content-Type": "application/json",
        "Idempotency-Key": f"key-{prepared.approval.id}",
        "X-Test-Kill-After": kill_after,
    }
    client = HTTPConnection("127.0.0.1", port, timeout=30)
    path = f"/api/v1/approvals/{prepared.approval.id}/execute"
    try:
        client.request("POST", path, json.dumps({"nonce": prepared.nonce}), headers)
        response = client.getresponse()
        return Answer(response.status, "Idempotent-Replayed" in response.headers, response.read())
    except ConnectionError:
        return None
    finally:
        client.close()


def everything() -> tuple[Any, ...]:
    """Return every row of every table, the audit's too."""
    evidence = list(AuditEvent.objects.order_by("id").values())
    return take_snapshot(), evidence, list(ChainHead.objects.order_by("pk").values())


def test_a_kill_between_any_two_statements_leaves_nothing_and_the_retry_executes(
    port, agent, approve
):
    kills = 0
    while True:
        prepared = approve()
        before = everything()
        answer = execute(port, agent.credential, prepared, kill_after=str(kills))
        if answer is not None:
            break
        assert everything() == before
        retried = execute(port, agent.credential, prepared)
        kills += 1
        assert retried is not None
        assert (retried.status, retried.is_replay) == (200, False)
        assert json.loads(retried.body)["data"]["number"] == f"INV-2026-{kills:04d}"

    assert kills >= FEWEST_STATEMENTS
    assert answer.status == 200
    assert NumberSeries.objects.get().last_value == Document.objects.count() == kills + 1
    assert list(find_breaks()) == []


def test_a_kill_after_the_commit_leaves_everything_and_the_retry_tells_of_it(port, agent, approve):
    prepared = approve()
    assert execute(port, agent.credential, prepared, kill_after=ANSWERED) is None
    after = everything()
    document = Document.objects.get()

    retried = execute(port, agent.credential, prepared)

    assert (document.status, document.number) == ("issued", "INV-2026-0001")
    assert retried is not None
    assert (retried.status, retried.is_replay) == (200, True)
    assert json.loads(retried.body)["data"]["number"] == "INV-2026-0001"
    assert take_snapshot() == after[0]
    assert list(find_breaks()) == []
