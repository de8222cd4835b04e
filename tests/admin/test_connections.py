"""The list of connections, and how the owner ends them."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
import time_machine
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from agent_access.admin.states import State
from agent_access.connections import revoke_connection
from agent_access.models import AuditEvent, Connection
from agent_access.models.connections import RevokedReason
from agent_access.switches import turn_access
from agent_access.verification import find_breaks
from invoicing.access import Permission
from invoicing.models import Company, User
from tests.factories import UserFactory, withdraw
from tests.snapshots import take_snapshot
from tests.web.forms import main_of, text_of

pytestmark = pytest.mark.django_db

LIST = "/admin/agent_access/connection/"
REVOKE = f"{LIST}revoke/"


def names_in(answer):
    """Return the names that stand in the rows of the list, in their order."""
    rows = main_of(answer).split('data-label="Name">')[1:]
    return [row.split("</a>")[0].rsplit(">", 1)[1] for row in rows]


def row_of(answer, name):
    """Return the cells of a connection's row, by their labels and without markup."""
    [row] = [row for row in main_of(answer).split("<tr>") if f">{name}</a>" in row]
    cells = re.findall(r'data-label="([^"]*)">(.*?)</t[dh]>', row)
    return {label: unescape(" ".join(strip_tags(text).split())) for label, text in cells}


def expire(connection):
    past = timezone.now() - timedelta(seconds=1)
    Connection.objects.filter(pk=connection.pk).update(
        created_at=past - timedelta(days=1), expires_at=past
    )


def test_a_row_tells_all_that_one_asks_of_an_agent(owner_desk, connect, delegate):
    with time_machine.travel(datetime(2030, 3, 2, 12, 3, 30, tzinfo=UTC), tick=False):
        connection, agent = connect(delegate, scopes=["customers:read"], days=7, name="Ledger")
        agent.call("customers.search")
        agent.call("documents.list")  # refused, and a call all the same
        owner_desk.force_login(Company.objects.get().owner)
        assert row_of(owner_desk.get(LIST), "Ledger") == {
            "": "",
            "Name": "Ledger",
            "Kind": "Pasted credential",
            "Acts as": "Dana Delegate since 2030-03-02",
            "Scopes": "customers:read",
            "Last use": "2030-03-02 12:03 UTC",
            "Calls in the last day": "2",
            "Expires": "2030-03-09 12:03 UTC",
            "State": "Live",
        }
    assert connection.name == "Ledger"


def test_the_page_says_what_the_person_has_no_permission_for_now(owner_desk, connect, delegate):
    connection, _ = connect(delegate, scopes=["customers:read", "invoices:read"])
    page = f"{LIST}{connection.id}/"
    refused = (
        "Dana Delegate currently has no permission for documents.list, documents.get,"
        " documents.preview: such calls are refused."
    )
    assert "no permission" not in main_of(owner_desk.get(page))
    withdraw(delegate, Permission.VIEW_DOCUMENT)
    assert main_of(owner_desk.get(page)).count("no permission") == 1
    assert refused in main_of(owner_desk.get(page))


def test_only_calls_of_the_last_day_are_counted(owner_desk, connect, delegate, owner):
    now = timezone.now()
    connection, agent = connect(delegate, name="Ledger")
    for hours in (-25, -23, 0):
        with time_machine.travel(now + timedelta(hours=hours)):
            agent.call("tools.list")
    assert row_of(owner_desk.get(LIST), "Ledger")["Calls in the last day"] == "2"
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    assert row_of(owner_desk.get(LIST), "Ledger")["Calls in the last day"] == "2"


def test_the_state_says_why(owner_desk, connect, delegate):
    made = {name: connect(delegate, name=name)[0] for name in ("Live", "Expired", "Ended")}
    expire(made["Expired"])
    revoke_connection(made["Ended"].id, reason=RevokedReason.SESSIONS_ENDED)
    page = owner_desk.get(LIST)
    assert [row_of(page, name)["State"] for name in made] == [
        "Live",
        "Expired",
        "Ended The delegated user's sessions were ended",
    ]
    assert names_in(page) == ["Ended", "Expired", "Live"]


def test_a_switch_does_not_make_an_expired_connection_an_ended_one(owner_desk, connect, delegate):
    connection, _ = connect(delegate, name="Old")
    expire(connection)
    turn_access(on=False)
    assert row_of(owner_desk.get(LIST), "Old")["State"] == "Expired"
    assert names_in(owner_desk.get(f"{LIST}?state=expired")) == ["Old"]
    assert names_in(owner_desk.get(f"{LIST}?state=ended")) == []


def test_one_revoked_while_the_clock_was_days_ahead_has_ended_once_it_is_right(
    owner_desk, connect, delegate
):
    connection, agent = connect(delegate, name="Early", days=1)
    with time_machine.travel(connection.expires_at + timedelta(days=1)):
        revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    state = row_of(owner_desk.get(LIST), "Early")["State"]
    assert state == "Ended The owner revoked it"
    found = [names_in(owner_desk.get(f"{LIST}?state={each}")) for each in State]
    assert found == [[], [], ["Early"]]
    assert agent.call("tools.list").status == 401


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"is_active": False}, "The delegated user was deactivated"),
        ({"is_guest": True}, "The delegated user became a guest"),
        ({"session_revision": 2}, "The delegated user's sessions were ended"),
    ],
)
def test_what_ends_at_its_next_call_is_no_longer_called_live(
    owner_desk, connection, delegate, change, reason
):
    User.objects.filter(pk=delegate.pk).update(**change)
    assert row_of(owner_desk.get(LIST), "Test agent")["State"] == f"Ended {reason}"
    connection.refresh_from_db()
    assert connection.revoked_at is None


def test_connections_are_filtered_by_state_and_kind(
    owner_desk, connect, delegate, browser_connection
):
    connect(delegate, name="Live")
    expire(connect(delegate, name="Expired")[0])
    revoked, _ = connect(delegate, name="Ended")
    revoke_connection(revoked.id, reason=RevokedReason.OWNER_REVOKED)
    for query, found in {
        "state=live": ["Live", "Browser agent"],
        "state=expired": ["Expired"],
        "state=ended": ["Ended"],
        "kind=browser": ["Browser agent"],
        "kind=pasted&state=live": ["Live"],
        "state=nothing": [],
    }.items():
        assert names_in(owner_desk.get(f"{LIST}?{query}")) == found, query


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("ledger", ["Ledger agent"]),
        ("LEDG", ["Ledger agent"]),
        ("dana", ["Other", "Ledger agent"]),
        ("colin", ["Third"]),
        ("agent dana", ["Ledger agent"]),
        ("agent colin", []),
        ("colleague@halden.example", ["Third"]),
        ("%", []),
    ],
)
def test_connections_are_searched_by_name_and_person(
    owner_desk, connect, delegate, colleague, search, found
):
    User.objects.filter(pk=colleague.pk).update(email="colleague@halden.example")
    for user, name in ((delegate, "Ledger agent"), (delegate, "Other"), (colleague, "Third")):
        connect(user, name=name)
    assert names_in(owner_desk.get(LIST, {"q": search})) == found


def test_the_list_is_sorted_by_name_and_expiry(owner_desk, connect, delegate):
    for name, days in (("B", 3), ("A", 1), ("C", 2)):
        connect(delegate, name=name, days=days)
    assert names_in(owner_desk.get(f"{LIST}?o=1")) == ["A", "B", "C"]
    assert names_in(owner_desk.get(f"{LIST}?o=7")) == ["A", "C", "B"]


def test_a_page_costs_the_same_whatever_the_number_of_rows(owner_desk, connect, delegate):
    def count() -> int:
        with CaptureQueriesContext(database) as captured:
            assert owner_desk.get(LIST).status_code == 200
        return len([each for each in captured if each["sql"].startswith("SELECT")])

    connect(delegate)[1].call("tools.list")
    few = count()
    for number in range(30):
        user = UserFactory.create() if number % 2 else delegate
        connect(user, name=f"Agent {number}")[1].call("tools.list")
    assert count() == few <= 15


@pytest.mark.requirement("revocation.stops_calls")
def test_the_owner_revokes_one(owner_desk, owner, connect, delegate):
    connection, agent = connect(delegate, name="Ledger agent")
    _, other = connect(delegate, name="Other")
    page = main_of(owner_desk.get(f"{REVOKE}?id={connection.id}"))
    assert "Revoke 1 connection?" in page
    assert "Ledger agent" in page
    assert "Other" not in page
    assert agent.call("tools.list").status == 200
    answer = owner_desk.post(REVOKE, {"id": connection.id})
    assert (answer.status_code, answer["Location"]) == (302, LIST)
    assert "1 connection ended." in main_of(owner_desk.get(LIST))
    assert agent.call("tools.list").status == 401
    assert other.call("tools.list").status == 200
    connection.refresh_from_db()
    assert connection.revoked_reason == "owner_revoked"
    revoked = AuditEvent.objects.filter(action="connection:revoked")
    [told] = revoked.values_list("actor_id", "target", "transport", "client_address")
    assert told == (owner.id, str(connection.id), "web", "127.0.0.1")


def test_what_would_end_is_told_with_its_day_as_the_language_writes_it(
    owner_desk, owner, connect, delegate
):
    connection, _ = connect(delegate, name="Ledger agent")
    Connection.objects.filter(pk=connection.pk).update(
        created_at=datetime(2026, 3, 2, 9, tzinfo=UTC)
    )
    User.objects.filter(pk=owner.pk).update(language="de")
    page = text_of(owner_desk.get(f"{REVOKE}?id={connection.pk}"))
    assert "Ledger agent, handelt seit 02.03.2026 für Dana Delegate" in page


def test_the_owner_revokes_many(owner_desk, connect, delegate):
    made = [connect(delegate, name=f"Agent {number}") for number in range(4)]
    revoke_connection(made[3][0].id, reason=RevokedReason.SESSIONS_ENDED)
    chosen = [connection.id for connection, _ in made if connection.name != "Agent 1"]
    form = {"action": "revoke", "index": "0", "_selected_action": chosen}
    page = main_of(owner_desk.post(LIST, form))
    assert "Revoke 2 connections?" in page
    assert Connection.objects.filter(revoked_at=None).count() == 3
    owner_desk.post(REVOKE, {"id": chosen})
    assert "2 connections ended." in main_of(owner_desk.get(LIST))
    assert [agent.call("tools.list").status for _, agent in made] == [401, 200, 401, 401]
    reasons = Connection.objects.order_by("id").values_list("revoked_reason", flat=True)
    assert list(reasons) == ["owner_revoked", "", "owner_revoked", "sessions_ended"]
    assert list(find_breaks()) == []


NO_CONNECTIONS = ("x", "\x00", "0190f1f0-0000-7000-8000-000000000000")
NONE_IS_LIVE = "None of the selected connections is live any more."


@pytest.fixture
def nothing_ends(connection):
    """Nothing ends and nothing is written down, but what is said to the owner."""
    before, events = take_snapshot(), AuditEvent.objects.count()
    yield
    after = take_snapshot()
    assert {**after, "sessions.Session": []} == {**before, "sessions.Session": []}
    assert AuditEvent.objects.count() == events


@pytest.mark.parametrize("ids", [[], *([each] for each in NO_CONNECTIONS)])
def test_revoking_nothing_changes_nothing(owner_desk, nothing_ends, ids):
    assert owner_desk.get(REVOKE, {"id": ids})["Location"] == LIST
    assert owner_desk.post(REVOKE, {"id": ids})["Location"] == LIST


def test_an_action_without_a_choice_is_told(owner_desk, nothing_ends):
    form = {"action": "revoke", "index": "0"}
    answer = owner_desk.post(f"{LIST}?state=live", form, follow=True)
    assert answer.redirect_chain == [(f"{LIST}?state=live", 302)]
    assert "Nothing was revoked: select a connection first." in main_of(answer)


@pytest.mark.parametrize("chosen", NO_CONNECTIONS)
def test_an_action_on_what_is_no_connection_finds_none(owner_desk, nothing_ends, chosen):
    form = {"action": "revoke", "index": "0", "_selected_action": [chosen]}
    assert NONE_IS_LIVE in main_of(owner_desk.post(LIST, form, follow=True))


@pytest.fixture
def ended(connection):
    revoke_connection(connection.id, reason=RevokedReason.SESSIONS_ENDED)
    return connection


def test_what_has_ended_is_not_ended_again(owner_desk, ended, nothing_ends):
    assert NONE_IS_LIVE in main_of(owner_desk.get(f"{REVOKE}?id={ended.id}", follow=True))
    owner_desk.post(REVOKE, {"id": ended.id})
