"""A plugin of pytest: name it in `pytest_plugins`, beside pytest-django."""

from collections.abc import Callable, Iterator

import pytest
from django.test import TransactionTestCase
from django.utils import timezone

from agent_access.database import clock
from agent_access.testing import AgentClient, flush_past_triggers

__all__ = ["make_agent"]


@pytest.fixture
def make_agent(db: None) -> Callable[..., AgentClient]:
    """Return AgentClient, for a test that has a database: `make_agent(user, "notes:read")`."""
    return AgentClient


@pytest.fixture(autouse=True, scope="session")
def _the_database_has_the_clock_of_the_test() -> Iterator[None]:
    """Let the database be at the time to which a test moves the clock of its process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "_ask_database", timezone.now)
        yield


@pytest.fixture(autouse=True, scope="session")
def _flush_past_triggers() -> Iterator[None]:
    """Wrap the flush itself, since it runs after all fixtures of the test have ended."""
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # noqa: SLF001  private to Django

    def flush_anything(test_case: TransactionTestCase) -> None:
        # A TestCase rolls back instead, and needs no flush.
        with flush_past_triggers():
            flush(test_case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush_anything)
        yield
