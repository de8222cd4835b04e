"""The target of hostile input."""

from collections.abc import Iterator
from typing import Any

import pytest

from invoicing.models import Document
from tests.agents import HttpAgent
from tests.hostile.target import Target
from tests.snapshots import take_snapshot


@pytest.fixture(autouse=True)
def _calls_without_limit(many_calls: None) -> None:
    """No test of this folder is about the limits."""


@pytest.fixture
def target(agent: HttpAgent, draft: Document, draft_body: dict[str, Any]) -> Target:
    """The tools that take a body, with a valid draft."""
    return Target(agent, draft.id, draft_body)


@pytest.fixture
def nothing_changes(target: Target) -> Iterator[None]:
    """Check that the test leaves every table as it was."""
    before = take_snapshot()
    yield
    assert take_snapshot() == before
