"""What a project is told after a commit, and that telling it costs and changes nothing."""

from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from django.db import transaction
from django.dispatch import Signal

from agent_access import signals
from agent_access.connections import revoke_connection
from agent_access.models import Connection, RevokedReason
from agent_access.tools import Tool

NAMES = ("connection_created", "connection_ended", "call_finished")


@pytest.fixture
def told():
    """Return the list of what was told, by the names of the signals."""
    heard: list[tuple[str, type, dict[str, Any]]] = []

    def listen(name: str) -> Callable[..., None]:
        def receive(sender: type, signal: Signal, **known: Any) -> None:
            heard.append((name, sender, known))

        return receive

    receivers = {name: listen(name) for name in NAMES}
    for name, receive in receivers.items():
        getattr(signals, name).connect(receive)
    yield heard
    for name, receive in receivers.items():
        getattr(signals, name).disconnect(receive)


def test_a_connection_is_told_of_when_it_begins_and_when_it_ends(
    told, connect, delegate, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        connection, _ = connect(delegate)
        assert told == []
    assert told == [("connection_created", Connection, {"connection": connection})]
    told.clear()
    with django_capture_on_commit_callbacks(execute=True):
        revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    known = {"connection_id": connection.id, "reason": RevokedReason.OWNER_REVOKED}
    assert told == [("connection_ended", Connection, known)]


@pytest.mark.django_db(transaction=True)
def test_what_was_rolled_back_is_not_told(told, connect, delegate):
    connection, _ = connect(delegate)
    told.clear()
    with transaction.atomic():
        revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
        transaction.set_rollback(True)
    assert told == []


def outcomes(told):
    return [
        (known["tool"].name, known["outcome"], str(known["record_id"]), known["is_replay"])
        for name, sender, known in told
        if (name, sender) == ("call_finished", Tool)
    ]


def test_every_call_is_told_of_with_its_outcome(
    told, connection, agent, draft_body, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        made = agent.call("drafts.create", draft_body, key="one")
        agent.call("drafts.create", draft_body, key="one")
        agent.call("drafts.create", {}, key="two")
        agent.call("customers.search", {})
    draft = made.data["id"]
    assert outcomes(told) == [
        ("drafts.create", "ok", draft, False),
        ("drafts.create", "ok", draft, True),
        ("drafts.create", "validation_failed", "None", False),
        ("customers.search", "ok", "None", False),
    ]
    assert [known["connection"] for _, _, known in told] == [connection] * 4


def test_a_listener_that_fails_changes_no_answer(
    agent, draft_body, django_capture_on_commit_callbacks
):
    def fail(**_: Any) -> NoReturn:
        raise RuntimeError

    signals.call_finished.connect(fail)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            assert agent.call("drafts.create", draft_body, key="one").status == 201
    finally:
        signals.call_finished.disconnect(fail)


def test_nothing_waits_for_a_commit_where_nobody_listens(
    agent, draft_body, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks() as waiting:
        agent.call("drafts.create", draft_body, key="one")
    assert waiting == []
