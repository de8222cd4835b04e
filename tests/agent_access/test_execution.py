"""What happens to a call that breaks, and to one that loses its connection on the way."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError
from django.http import HttpRequest

from agent_access import admission, execution
from agent_access.bodies import read_json
from agent_access.connections import revoke_connection
from agent_access.errors import ForbiddenError, UnavailableError
from agent_access.execution import find_tool_error, is_granted
from agent_access.listing import TOOLS_LIST
from agent_access.models import AuditEvent, ChainHead, Connection, Receipt
from agent_access.models.connections import RevokedReason
from agent_access.tools import registry
from invoicing.errors import ConflictError, InvoicingError
from invoicing.models import Document
from invoicing.services import drafts
from tests.snapshots import take_snapshot

UNAVAILABLE = {
    "error": {
        "code": "unavailable",
        "message": (
            "The service could not finish this call. Send the same call with the same idempotency"
            " key again; nothing is done twice."
        ),
    }
}

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


def test_in_the_tests_a_bug_is_raised(agent, draft_body, broken_create):
    with pytest.raises(RuntimeError, match=BUG):
        agent.call("drafts.create", draft_body, key="one")


@pytest.mark.usefixtures("as_in_production")
def test_a_database_that_is_gone_is_unavailable(agent, monkeypatch, caplog):
    def fail(*args: object) -> None:
        raise OperationalError("could not connect to MARKER")

    monkeypatch.setattr(admission, "identify", fail)
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


def test_no_tool_runs_on_an_id_that_is_none(agent, monkeypatch):
    tool = registry.find("people.get")
    # It does not even ask which record is meant.
    monkeypatch.setitem(vars(tool), "run", lambda *_: 1 / 0)
    assert agent.call("people.get", id="no-id").status == 404


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


@pytest.mark.parametrize(
    ("grants", "granted"),
    [
        ([], False),
        (["invoices:read"], True),
        (["invoices:prepare"], False),
        (["documents.get"], True),
        (["documents_get"], False),
        (["documents.list", "customers:read"], False),
    ],
)
def test_a_scope_or_the_very_capability_covers_a_tool(grants, granted):
    tool = registry.find("documents.get")
    assert tool is not None
    assert is_granted(tool, Connection(grants=grants)) is granted


def test_the_list_of_tools_needs_no_grant():
    assert is_granted(TOOLS_LIST, Connection(grants=[]))


def test_a_failure_of_the_domain_has_one_answer(settings):
    assert find_tool_error(ConflictError()).code == "conflict"
    refusal = ForbiddenError()
    assert find_tool_error(refusal) is refusal
    with pytest.raises(InvoicingError):
        find_tool_error(InvoicingError())
    settings.AGENT_ACCESS |= {"RAISE_UNFORESEEN": False}
    assert isinstance(find_tool_error(InvoicingError()), UnavailableError)
