"""Lifts the rate limits for the fuzzers, and reports how much they sent."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.agents import HttpAgent
from tests.factories import TeamFactory, make_draft
from tests.fuzzing.effort import IS_LONG, tally
from tests.fuzzing.sending import Sender
from tests.interface.issuing import decide, prepare

# Its first journey takes seconds: schemathesis makes a machine of the whole document.
collect_ignore = [] if IS_LONG else ["test_journeys.py"]


@pytest.fixture(autouse=True)
def _calls_without_limit(many_calls: None) -> None:
    """No test of this folder is about the limits."""


@pytest.fixture
def arguments(agent, customer, delegate, draft_body) -> dict[str, dict[str, Any]]:
    """Return valid arguments of each tool, with records that they find."""
    team = TeamFactory.create(members=[delegate])
    draft, waiting, agreed = (make_draft(user=delegate, customer=customer) for _ in range(3))
    pending = prepare(agent, waiting.id, key="pending").data
    approved = prepare(agent, agreed.id, key="approved").data
    decide(approved)
    page = {"search": "acme", "limit": "2", "after": str(customer.id)}
    return {
        **dict.fromkeys(("customers.search", "documents.list", "teams.list"), page),
        "documents.get": {"id": str(draft.id)},
        "documents.preview": draft_body,
        "drafts.create": draft_body,
        "drafts.update": {"id": str(draft.id), **draft_body, "lock_version": 1},
        "documents.issue_prepare": {"id": str(waiting.id), "lock_version": 1},
        "approvals.get": {"id": pending["approval_id"]},
        "documents.issue": {"id": approved["approval_id"], "nonce": approved["nonce"]},
        "people.list": page | {"team_id": str(team.id)},
        "people.get": {"id": str(delegate.id)},
    }


@pytest.fixture
def sent(agent: HttpAgent) -> Sender:
    return Sender(str(agent.credential))


def pytest_sessionfinish() -> None:
    """Tell `./dev fuzz` how much was sent."""
    if path := os.environ.get("FUZZ_TALLY"):
        Path(path).write_text(json.dumps(tally), encoding="utf-8")
