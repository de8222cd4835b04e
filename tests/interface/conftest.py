"""A valid call of every tool, for tests that spoil one thing."""

from typing import Any

import pytest

from invoicing.models import Customer, Document, User
from tests.factories import make_draft
from tests.interface.tool_table import Call

# One more than the smallest set that a walk in pages of 50 cuts twice.
ROOMY = 1000


@pytest.fixture
def draft(delegate: User, customer: Customer) -> Document:
    """A draft that a person made, at its first version."""
    return make_draft(user=delegate, customer=customer)


@pytest.fixture
def calls(draft: Document, colleague: User, draft_body: dict[str, Any]) -> dict[str, Call]:
    """One valid call of each tool, in the order of the interface's table."""
    update = draft_body | {"lock_version": draft.lock_version}
    made = (
        Call(tool="tools.list", arguments={}),
        Call(tool="customers.search", arguments={}),
        Call(tool="documents.list", arguments={}),
        Call(tool="documents.get", arguments={}, id=draft.id),
        Call(tool="documents.preview", arguments=draft_body),
        Call(tool="drafts.create", arguments=draft_body, key="create"),
        Call(tool="drafts.update", arguments=update, id=draft.id, key="update"),
        Call(tool="people.list", arguments={}),
        Call(tool="people.get", arguments={}, id=colleague.id),
        Call(tool="teams.list", arguments={}),
    )
    return {call.tool: call for call in made}


@pytest.fixture
def many_calls(settings: Any) -> None:
    """Let a test make more calls than a minute allows."""
    limits = {"LIMIT_PER_CONNECTION": ROOMY, "LIMIT_PER_ADDRESS": ROOMY}
    settings.AGENT_ACCESS = {**settings.AGENT_ACCESS, **limits}
