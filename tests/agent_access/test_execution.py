"""What happens to a call that breaks, and to one that loses its connection on the way."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.http import HttpRequest

from agent_access import admission, execution
from agent_access.bodies import read_json
from agent_access.connections import revoke_connection
from agent_access.errors import UnavailableError
from agent_access.models import AuditEvent, ChainHead, Receipt
from agent_access.models.connections import RevokedReason
from invoicing.models import Document
from invoicing.services import drafts
from tests.snapshots import take_snapshot

UNAVAILABLE = {"error": {"code": "unavailable", "message": UnavailableError.message}}

BUG = "a bug with the text MARKER"


@pytest.fixture
def broken_create(monkeypatch):
    """Break the service after it has written; return a way to mend it."""
    create_draft = drafts.create_draft

    def write_and_break(*args, **options) -> None:  # noqa: ANN002, ANN003  whatever the service takes
        create_draft(*args, **options)
        assert Document.objects.exists()
        raise RuntimeError(BUG)

    monkeypatch.setattr(drafts, "create_draft", write_and_break)
    return lambda: monkeypatch.setattr(drafts, "create_draft", create_draft)


@pytest.mark.requirement("error.unavailable", "error.no_leaks", "error.failure_stores_no_receipt")
@pytest.mark.usefixtures("as_in_production")
def test_a_bug_is_logged_with_its_trace_and_never_shown(
    agent, connection, draft_body, broken_create, caplog
):
    before = take_snapshot()

    answer = agent.call("drafts.create", draft_body, key="one")

    assert (answer.status, answer.body) == (503, UNAVAILABLE)
    assert take_snapshot() == before
    line = next(line for line in caplog.records if line.name == "agent_access.execution")
    assert (line.levelno, line.getMessage()) == (logging.ERROR, "A call failed unexpectedly.")
    assert BUG in caplog.text
    assert "write_and_break" in caplog.text
    event = AuditEvent.objects.get(chain=str(connection.id))
    assert (event.action, event.outcome, event.detail) == ("drafts.create", "unavailable", "")


@pytest.mark.requirement("error.unavailable", "idempotency.identical_retry")
@pytest.mark.usefixtures("as_in_production")
def test_after_a_bug_the_same_key_works(agent, draft_body, broken_create):
    assert agent.call("drafts.create", draft_body, key="one").status == 503
    broken_create()
    answer = agent.call("drafts.create", draft_body, key="one")
    assert answer.status == 201
    assert "Idempotent-Replayed" not in answer.headers
    assert (Document.objects.count(), Receipt.objects.count()) == (1, 1)


@pytest.mark.usefixtures("as_in_production")
def test_a_database_that_is_gone_is_unavailable(agent, monkeypatch, caplog):
    failure = OperationalError("could not connect to MARKER")
    monkeypatch.setattr(admission, "identify", Mock(side_effect=failure))
    answer = agent.call("tools.list")
    assert (answer.status, answer.body) == (503, UNAVAILABLE)
    assert answer.headers["Cache-Control"] == "no-store"
    assert "could not connect" in caplog.text


@pytest.mark.usefixtures("as_in_production")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("tools.list", {}), ("documents.list", {"limit": 0}), ("drafts.create", {"x": 1})],
)
def test_a_call_that_cannot_be_written_down_is_not_answered(
    agent, connection, draft_body, tool, arguments
):
    ChainHead.objects.filter(chain=str(connection.id)).delete()
    before, events = take_snapshot(), AuditEvent.objects.count()
    for body in (arguments, draft_body if tool == "drafts.create" else arguments):
        answer = agent.call(tool, body, key="one")
        assert (answer.status, answer.body) == (503, UNAVAILABLE)
    assert (take_snapshot(), AuditEvent.objects.count()) == (before, events)


@pytest.fixture(params=["revoked", "expired"])
def end(request, connection, time_machine) -> Callable[[], Any]:
    """Return what ends the connection: its owner, or the last of its days."""
    if request.param == "expired":
        return partial(time_machine.move_to, connection.expires_at, tick=False)
    return partial(revoke_connection, connection.id, reason=RevokedReason.OWNER_REVOKED)


@pytest.fixture
def end_before_bodies(end, monkeypatch) -> Callable[[], None]:
    def end_first(request: HttpRequest) -> Any:
        end()
        return read_json(request)

    return lambda: monkeypatch.setattr("agent_access.http.parsers.read_json", end_first)


@pytest.mark.requirement("revocation.stops_calls", "error.unauthenticated")
def test_a_write_whose_connection_ends_on_its_way_changes_nothing(
    agent, connection, draft_body, end_before_bodies
):
    end_before_bodies()
    answer = agent.call("drafts.create", draft_body, key="one")

    assert (answer.status, answer.code) == (401, "unauthenticated")
    assert (Document.objects.count(), Receipt.objects.count()) == (0, 0)
    event = AuditEvent.objects.get(chain=str(connection.id))
    assert (event.action, event.outcome) == ("drafts.create", "unauthenticated")


@pytest.mark.requirement("revocation.stops_calls", "error.unauthenticated")
def test_a_read_whose_connection_ends_on_its_way_gives_nothing(
    agent, connection, end, customer, monkeypatch
):
    run_tool = execution._run_tool

    def end_after(*args: Any) -> Any:
        found = run_tool(*args)
        end()
        return found

    monkeypatch.setattr(execution, "_run_tool", end_after)
    answer = agent.call("customers.search")

    assert (answer.status, answer.code) == (401, "unauthenticated")
    assert b"Acme" not in answer.content
    event = AuditEvent.objects.get(chain=str(connection.id))
    assert event.outcome == "unauthenticated"


def test_a_replay_of_a_connection_that_ends_on_its_way_gives_nothing(
    agent, draft_body, end_before_bodies
):
    agent.call("drafts.create", draft_body, key="one")
    before = Receipt.objects.values().get()

    end_before_bodies()
    answer = agent.call("drafts.create", draft_body, key="one")
    assert (answer.status, answer.code) == (401, "unauthenticated")
    assert Receipt.objects.values().get() == before
