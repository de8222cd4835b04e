"""Drops the triggers for the flush after a transactional test, and installs them again."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.test import TransactionTestCase

from agent_access.database import triggers


@pytest.fixture(autouse=True, scope="session")
def _flush_past_triggers() -> Iterator[None]:
    """Wrap the flush itself, since it runs after all fixtures of the test have ended."""
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # private to Django

    def flush_without_triggers(test_case: TransactionTestCase) -> None:
        # A TestCase rolls back instead, and needs no flush.
        for connection in connections.all():
            for folder in triggers.installed_folders:
                triggers.drop(connection, folder)
        flush(test_case)
        for connection in connections.all():
            for folder in triggers.installed_folders:
                triggers.install(connection, folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush_without_triggers)
        yield
