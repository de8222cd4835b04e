"""A project may have its requests be transactions: those of agents begin their own."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.db import connection
from django.urls import URLResolver, get_resolver

from agent_access.models import AuditEvent, Connection, RevokedReason
from invoicing.models import Document, User

# As a server answers: outside of any transaction of the test.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _requests_are_transactions(monkeypatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)  # noqa: FBT003  the setting


def test_a_refused_call_is_audited_and_a_write_is_kept(agent, draft_body):
    agent.call("drafts.create", {}, key="one")
    assert AuditEvent.objects.get(action="drafts.create").outcome == "validation_failed"
    assert agent.call("drafts.create", draft_body, key="two").status == 201
    assert Document.objects.count() == 1


def test_a_connection_that_has_to_end_has_ended_though_the_call_is_refused(agent, connection):
    User.objects.filter(pk=connection.user_id).update(is_active=False)
    assert agent.request("GET", "/api/v1/tools").status == 401
    assert Connection.objects.get().revoked_reason == RevokedReason.USER_DEACTIVATED


OURS = ("api/v1", "^api/v1", "mcp", "^mcp", "oauth/", ".well-known/", "admin/agent_")


def read_views(patterns: Sequence[Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for each in patterns:
        route = place + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from read_views(each.url_patterns, route)
        elif route.startswith(OURS):
            yield route, each.callback


def test_every_view_for_agents_and_the_owner_begins_its_own_transactions():
    found = [*read_views(get_resolver().url_patterns)]
    assert len(found) > 30
    alone = [route for route, view in found if hasattr(view, "_non_atomic_requests")]
    assert alone == [route for route, _ in found]
