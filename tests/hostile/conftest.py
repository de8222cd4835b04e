"""The target of hostile input."""

from typing import Any

import pytest

from invoicing.models import Document
from tests.agents import HttpAgent
from tests.hostile.target import Target


@pytest.fixture(autouse=True)
def _calls_without_limit(many_calls: None) -> None:
    """No test of this folder is about the limits."""


@pytest.fixture
def target(agent: HttpAgent, draft: Document, draft_body: dict[str, Any]) -> Target:
    """The tools that take a body, with a valid draft."""
    return Target(agent, draft.id, draft_body)
