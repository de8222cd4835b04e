"""A valid call of every tool, for tests that make it invalid, and a draft before its issue."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from agent_access.models import Connection
from invoicing.models import Customer, Document, User
from invoicing.services.drafts import ConnectionRef
from tests.agents import HttpAgent
from tests.approvals import Prepared, prepare
from tests.factories import make_draft
from tests.interface import issuing
from tests.interface.calls import Call
from tests.tool_table import TABLE

CallsOf = Callable[[Connection], dict[str, Call]]


@pytest.fixture
def calls_of(
    draft: Document, colleague: User, delegate: User, customer: Customer, draft_body: dict[str, Any]
) -> CallsOf:
    """Return a function that returns a valid call of each tool, for an agent of the connection.

    They are in the order of the interface's table, and independent of each other.
    """

    def make_calls(connection: Connection) -> dict[str, Call]:
        update = draft_body | {"lock_version": draft.lock_version}
        to_prepare = make_draft(user=delegate, customer=customer)
        prepared = _approve(make_draft(user=delegate, customer=customer), connection)
        made = (
            Call(tool="documents.get", arguments={}, id=draft.id),
            Call(tool="documents.preview", arguments=draft_body),
            Call(tool="drafts.create", arguments=draft_body, key="create"),
            Call(tool="drafts.update", arguments=update, id=draft.id, key="update"),
            Call(
                tool="documents.issue_prepare",
                arguments={"lock_version": to_prepare.lock_version},
                id=to_prepare.id,
                key="prepare",
            ),
            Call(tool="approvals.get", arguments={}, id=prepared.approval.id),
            Call(
                tool="documents.issue",
                arguments={"nonce": prepared.nonce},
                id=prepared.approval.id,
                key="execute",
            ),
            Call(tool="people.get", arguments={}, id=colleague.id),
        )
        bare = {tool: Call(tool=tool, arguments={}) for tool in TABLE}
        return bare | {call.tool: call for call in made}

    return make_calls


def _approve(draft: Document, connection: Connection) -> Prepared:
    maker, now = ConnectionRef(connection.id, connection.name), timezone.now()
    prepared = prepare(draft, user=connection.user, connection=maker, now=now)
    prepared.decide(now=now)
    return prepared


@pytest.fixture
def calls(calls_of: CallsOf, connection: Connection) -> dict[str, Call]:
    """One valid call of each tool, for the delegate's agent."""
    return calls_of(connection)


@pytest.fixture
def drafted(agent: HttpAgent, draft_body: dict[str, Any]) -> Any:
    """The data that the agent got for a draft that it made."""
    return agent.call("drafts.create", draft_body, key="draft").data


@pytest.fixture
def prepared(agent: HttpAgent, drafted: Any) -> Any:
    """The data that the agent got for an approval that waits for the delegate."""
    return issuing.prepare(agent, drafted["id"]).data
