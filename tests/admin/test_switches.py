"""The owner's switches and modules, and the button that stops everything."""

import pytest

from agent_access.models import AuditEvent, Connection
from agent_access.models.audit import ADMINISTRATION
from agent_access.models.settings import AccessSettings
from agent_access.switches import UnknownModuleError, turn_access, turn_module, turn_sign_in
from agent_access.tools import registry
from agent_access.verification import find_breaks
from tests.snapshots import take_snapshot
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

FRONT = "/admin/agent_access/accesssettings/"
STOP = f"{FRONT}stop/"


def turn(desk, name, state):
    answer = desk.post(f"{FRONT}{name}/", {"state": state})
    assert (answer.status_code, answer["Location"]) == (302, FRONT)
    return main_of(desk.get(FRONT))


def administration():
    events = AuditEvent.objects.filter(chain=ADMINISTRATION).order_by("sequence")
    return list(
        events.values_list("action", "target", "actor_id", "transport", "client_address", "outcome")
    )


@pytest.mark.requirement("access.owner_decides")
def test_the_owner_turns_access_on_and_off(owner_desk, owner, company):
    assert "Agent access is on." in turn(owner_desk, "access", "on")
    assert AccessSettings.read().access_on
    assert "Agent access is off." in turn(owner_desk, "access", "off")
    assert not AccessSettings.read().access_on
    facts = (str(owner.id), "web", "127.0.0.1", "ok")
    assert [(a, str(b), *rest) for a, _, b, *rest in administration()] == [
        ("access:turned_on", *facts),
        ("access:turned_off", *facts),
    ]
    assert list(find_breaks()) == []


def test_the_owner_is_told_where_clients_send_their_calls(owner_desk, company):
    page = main_of(owner_desk.get(FRONT))
    assert "<code>https://invoices.example/mcp</code> (MCP)" in page
    assert "<code>https://invoices.example/api/v1</code> (HTTP tools)" in page


def test_turning_access_off_says_first_which_connections_end(owner_desk, connect, delegate):
    connection, agent = connect(delegate, name="Ledger <agent>")
    page = main_of(owner_desk.get(f"{FRONT}access/"))
    assert "Turn agent access off?" in page
    assert "1 live connection will end:" in page
    assert "Ledger &lt;agent&gt;" in page
    assert "Dana Delegate" in page
    assert agent.call("tools.list").status == 200
    assert "Agent access is off. 1 connection ended." in turn(owner_desk, "access", "off")
    connection.refresh_from_db()
    assert connection.revoked_reason == "access_off"


def test_many_that_end_are_counted_and_some_are_named(owner_desk, connect, delegate):
    for number in range(22):
        connect(delegate, name=f"Agent {number:02}")
    page = main_of(owner_desk.get(f"{FRONT}access/"))
    assert "22 live connections will end:" in page
    assert "Agent 21" in page
    assert "Agent 01" not in page
    assert "and 2 more." in page


def test_browser_sign_in_ends_its_own_connections_only(owner_desk, browser_connection, connection):
    page = main_of(owner_desk.get(f"{FRONT}browser-sign-in/"))
    assert "1 live connection will end:" in page
    assert browser_connection.name in page
    said = turn(owner_desk, "browser-sign-in", "off")
    assert "Browser sign-in is off. 1 connection ended." in said
    reasons = Connection.objects.order_by("id").values_list("id", "revoked_reason")
    assert dict(reasons) == {browser_connection.id: "browser_sign_in_off", connection.id: ""}
    assert "Browser sign-in is on." in turn(owner_desk, "browser-sign-in", "on")


def test_a_module_that_is_off_is_not_found_and_ends_nothing(owner_desk, owner, agent):
    assert "No live connection will end." in main_of(owner_desk.get(f"{FRONT}module-customers/"))
    assert "Module customers is off." in turn(owner_desk, "module-customers", "off")
    assert agent.call("customers.search").status == 404
    assert agent.call("people.list").status == 200
    assert "Module customers is on." in turn(owner_desk, "module-customers", "on")
    assert agent.call("customers.search").status == 200
    told = [(action, target) for action, target, *_ in administration() if "module" in action]
    assert told == [("module:turned_off", "customers"), ("module:turned_on", "customers")]


def test_a_module_that_stands_so_already_is_turned_once_and_written_down_once(company):
    for module in ("people", "people", "customers"):
        turn_module(module, on=False)
    assert AccessSettings.read().modules_off == ["customers", "people"]
    for _ in range(2):
        turn_module("people", on=True)
    assert AccessSettings.read().modules_off == ["customers"]
    with pytest.raises(UnknownModuleError):
        turn_module("nothing", on=False)
    assert AuditEvent.objects.count() == 3


def test_the_front_page_shows_every_switch_as_it_stands(owner_desk, access_on):
    turn_module("people", on=False)
    page = main_of(owner_desk.get(FRONT))
    on, off = '<span class="tag good">On</span>', '<span class="tag">Off</span>'
    assert f"Agent access {on}" in page
    assert f"Browser sign-in {off}" in page
    assert f"Module people {off}" in page
    for module in registry.modules:
        assert f"Module {module} " in page
    assert "No live connection." in page


def test_access_without_a_connection_leads_to_making_one(owner_desk, connect, delegate):
    link = '<a href="/admin/agent_access/connection/add/">create one</a>'
    assert link in main_of(owner_desk.get(FRONT))
    connect(delegate)
    assert link not in main_of(owner_desk.get(FRONT))
    turn_access(on=False)
    assert link not in main_of(owner_desk.get(FRONT))


@pytest.mark.parametrize("state", ["", "OFF", "maybe", "on\x00"])
def test_a_form_that_says_neither_on_nor_off_only_asks(owner_desk, connection, state):
    before = take_snapshot()
    assert "Turn agent access off?" in main_of(owner_desk.post(f"{FRONT}access/", {"state": state}))
    assert take_snapshot() == before


@pytest.mark.parametrize("name", ["nothing", "module-", "module-nothing", "module-people2"])
def test_an_unknown_switch_is_not_found(owner_desk, company, name):
    assert owner_desk.post(f"{FRONT}{name}/", {"state": "off"}).status_code == 404
    assert not AuditEvent.objects.exists()


def test_one_button_stops_everything(owner_desk, owner, browser_connection, agent, connection):
    assert "Stop all agents now" in main_of(owner_desk.get("/admin/"))
    answer = owner_desk.post(STOP)
    assert (answer.status_code, answer["Location"]) == (302, FRONT)
    assert "All agents are stopped. 2 connections ended." in main_of(owner_desk.get(FRONT))
    settings = AccessSettings.read()
    assert (settings.access_on, settings.browser_sign_in_on) == (False, False)
    assert set(Connection.objects.values_list("revoked_reason", flat=True)) == {"access_off"}
    assert agent.call("tools.list").status == 404
    told = administration()[-4:]
    assert sorted(action for action, *_ in told) == [
        "access:turned_off",
        "browser_sign_in:turned_off",
        "connection:revoked",
        "connection:revoked",
    ]
    assert {event[2:] for event in told} == {(owner.id, "web", "127.0.0.1", "ok")}
    turn_access(on=True)
    assert agent.call("tools.list").status == 401


def test_stopping_what_is_stopped_changes_nothing(owner_desk, access_on):
    turn_access(on=False)
    before, events = take_snapshot(), administration()
    owner_desk.post(STOP)
    assert "Agent access was off already." in main_of(owner_desk.get(FRONT))
    after = take_snapshot()
    assert {**after, "sessions.Session": []} == {**before, "sessions.Session": []}
    assert administration() == events


def test_while_access_is_off_a_link_to_the_switch_stands_where_the_button_was(owner_desk, company):
    for path in ("/admin/", FRONT):
        page = main_of(owner_desk.get(path))
        assert "Agent access is off" in page
        assert "Stop all agents now" not in page
        assert f'<a href="{FRONT}#switches">turn it on</a> and create new connections' in page


def test_who_owned_until_the_lock_was_theirs_turns_nothing(
    owner_desk, connection, handed_over_first
):
    owner_desk.raise_request_exception = False
    assert owner_desk.post(STOP).status_code == 403
    assert AccessSettings.read().access_on
    assert owner_desk.post(f"{FRONT}access/", {"state": "off"}).status_code == 403
    assert AccessSettings.read().access_on


def test_sign_in_without_access_is_told_as_it_is(owner_desk, company):
    turn_sign_in(on=True)
    page = main_of(owner_desk.get(FRONT))
    assert 'Browser sign-in <span class="tag good">On</span>' in page
    assert "while agent access is on" in page
