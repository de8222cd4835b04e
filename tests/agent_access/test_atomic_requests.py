"""A project may have its requests be transactions: those of agents begin their own."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.db import connection
from django.urls import URLResolver, get_resolver

from agent_access.models import AuditEvent, Connection, RevokedReason
from agent_access.telling import trying
from agent_access.telling.models import Preferences
from agent_access.telling.sending import Answer
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


@pytest.mark.parametrize("place", ["/notifications/test", "/account/notifications/test"])
def test_a_test_of_notifications_is_sent_outside_of_a_transaction(
    sign_in, delegate, settings, monkeypatch, place
):
    settings.ROOT_URLCONF = "tests.telling.host_urls"
    settings.AGENT_ACCESS |= {"MAIL_FROM": "Invoices <invoices@company.example>"}
    Preferences.objects.create(person=delegate, by_mail=True)
    is_atomic = []

    def make_sending(*args: Any, **kwargs: Any) -> Callable[[], Answer]:
        is_atomic.append(connection.in_atomic_block)
        return lambda: Answer.SENT

    monkeypatch.setattr(trying, "make_sending", make_sending)
    assert "Mail: sent." in sign_in(delegate).post(place).text
    assert is_atomic == [False]


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
