"""The owner at their desk, in a real browser."""

import pytest
from playwright.sync_api import expect

from agent_access.models import AuditEvent, Connection
from agent_access.models.settings import AccessSettings
from agent_access.switches import turn_access
from tests.agents import HttpAgent
from tests.browser.inspection import follow, inspect
from tests.factories import PASSWORD
from tests.oauth.programs import Browser, make_program, parameters_of

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

DESK = "/admin/agent_access"


def make_connection(page, delegate):
    page.goto(f"{DESK}/connection/add/")
    page.get_by_label("Name", exact=True).fill("Ledger agent")
    page.get_by_label("Acts as").select_option(label=f"Dana Delegate ({delegate.email})")
    page.get_by_label("Expires in days").fill("7")
    page.get_by_label("Your own password").fill(PASSWORD)
    page.get_by_role("button", name="Create the connection").click()
    expect(page.get_by_role("heading", name="The connection was created")).to_be_visible()


@pytest.mark.requirement("authentication.owner_creates_connections", "access.owner_decides")
def test_a_connection_is_made_used_seen_revoked_and_gone(open_page, owner, delegate, access_on):
    page = open_page("/documents", owner, permissions=["clipboard-read", "clipboard-write"])
    page.goto("/admin/")
    page.get_by_role("link", name="Connections", exact=True).click()
    page.get_by_role("link", name="New connection").click()
    expect(page.get_by_label("Ask for invoices to be issued")).not_to_be_checked()
    expect(page.get_by_label("Acts as")).to_have_value("")
    make_connection(page, delegate)
    page.get_by_role("button", name="Copy", exact=True).click()
    copied = page.get_by_role("button", name="Copied")
    expect(copied).to_have_attribute("aria-live", "polite")  # told to who does not see it
    credential = page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Copy the lines").first.click()
    lines = page.evaluate("navigator.clipboard.readText()")
    assert lines.startswith(f"CREDENTIAL={credential}\nAPI=")
    agent = HttpAgent(credential)
    assert agent.call("customers.search").status == 200

    page.get_by_role("link", name="Go to the connection").click()
    expect(page.get_by_role("heading", name="Ledger agent")).to_be_visible()
    expect(page.get_by_role("row", name="customers.search ok")).to_be_visible()
    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_have_text("1 connection ended.")
    assert agent.call("customers.search").status == 401


def test_all_agents_are_stopped_in_one_step_from_the_first_page(
    open_page, owner, delegate, connect
):
    agents = [connect(delegate)[1] for _ in range(2)]
    page = open_page("/admin/", owner)
    page.get_by_role("button", name="Stop all agents now").click()
    expect(page.get_by_role("status")).to_have_text("All agents are stopped. 2 connections ended.")
    assert [agent.call("tools.list").status for agent in agents] == [404, 404]
    assert not AccessSettings.read().access_on
    page.goto("/admin/")
    expect(page.get_by_role("heading", name="Agent access is off")).to_be_visible()
    expect(page.get_by_role("button", name="Stop all agents now")).to_have_count(0)


def test_a_double_click_makes_one_connection_and_shows_its_credential(
    open_page, owner, delegate, access_on
):
    page = open_page(f"{DESK}/connection/add/", owner)
    page.get_by_label("Name", exact=True).fill("Twice")
    page.get_by_label("Acts as").select_option(index=1)
    page.get_by_label("Your own password").fill(PASSWORD)
    page.get_by_role("button", name="Create the connection").dblclick()
    credential = page.get_by_label("Credential").input_value()
    assert HttpAgent(credential).call("tools.list").status == 200
    assert Connection.objects.count() == 1


def test_a_reload_makes_no_second_connection_and_shows_nothing(
    open_page, owner, delegate, access_on
):
    page = open_page("/admin/", owner)
    make_connection(page, delegate)
    credential = page.get_by_label("Credential").input_value()
    page.reload()
    expect(page.get_by_role("heading", name="This form was already sent")).to_be_visible()
    assert credential not in page.content()
    page.get_by_role("link", name="Go to the connection").click()
    expect(page.get_by_role("heading", name="Ledger agent")).to_be_visible()
    assert Connection.objects.count() == 1


def test_many_are_revoked_together_without_javascript(open_page, owner, delegate, connect):
    for name in ("One", "Two", "Three"):
        connect(delegate, name=name)
    page = open_page(f"{DESK}/connection/", owner, java_script_enabled=False)
    for name in ("One", "Three"):
        page.get_by_role("row", name=name).get_by_role("checkbox").check()
    page.get_by_role("button", name="Revoke the selected").click()
    expect(page.get_by_role("heading", name="Revoke 2 connections?")).to_be_visible()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_have_text("2 connections ended.")
    assert [each.name for each in Connection.objects.filter(revoked_at=None)] == ["Two"]


def test_going_back_to_the_list_chooses_no_other_connection(open_page, owner, delegate, connect):
    connect(delegate, name="Chosen")
    page = open_page(f"{DESK}/connection/", owner)
    page.get_by_role("row", name="Chosen").get_by_role("checkbox").check()
    follow(page.get_by_role("button", name="Revoke the selected"))
    connect(delegate, name="Another, above it")
    page.go_back()
    expect(page.get_by_role("row", name="Another, above it")).to_be_visible()
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)


def test_all_of_a_page_are_chosen_at_once(open_page, owner, delegate, connect):
    for name in ("One", "Two"):
        connect(delegate, name=name)
    page = open_page(f"{DESK}/connection/", owner)
    page.get_by_label("Select all objects on this page for an action").check()
    page.get_by_role("button", name="Revoke the selected").click()
    expect(page.get_by_role("heading", name="Revoke 2 connections?")).to_be_visible()


@pytest.fixture
def client(owner, delegate, sign_in_on) -> None:
    """A client that the owner allowed in."""
    program = make_program("https://client.example/callback", name="Browser agent")
    answer = Browser(owner).allow(program.authorize_path(), delegate)
    program.exchange(parameters_of(answer)["code"])


@pytest.mark.prove
def test_every_page_is_accessible_and_fits(open_page, owner, delegate, agent, draft_body, client):
    draft = agent.call("drafts.create", draft_body, key="a-key").data
    version = {"lock_version": 1}
    agent.call("documents.issue_prepare", version, id=draft["id"], key="another-key")
    agent.call("customers.search", {"limit": 999})
    page = open_page("/admin/", owner)
    inspect(page, "desk-start")
    page.goto(f"{DESK}/")
    inspect(page, "desk-front")
    follow(page.get_by_role("link", name="Turn off Agent access"))
    inspect(page, "desk-turn-off")
    page.goto(f"{DESK}/connection/")
    inspect(page, "desk-connections")
    follow(page.get_by_role("link", name="Test agent"))
    inspect(page, "desk-connection")
    follow(page.get_by_role("link", name="Revoke"))
    inspect(page, "desk-revoke")
    page.goto(f"{DESK}/connection/?q=nobody")
    inspect(page, "desk-connections-none")
    make_connection(page, delegate)
    inspect(page, "desk-connection-made")
    page.reload()
    inspect(page, "desk-connection-made-already")
    for name in ("receipt", "auditevent"):
        page.goto(f"{DESK}/{name}/")
        inspect(page, f"desk-{name}s")
        follow(page.locator("#result_list tbody tr").first.get_by_role("link").first)
        inspect(page, f"desk-{name}")
    page.goto("/admin/agent_oauth/application/")
    inspect(page, "desk-clients")
    follow(page.get_by_role("link", name="Browser agent"))
    inspect(page, "desk-client")
    follow(page.get_by_role("link", name="Delete"))
    inspect(page, "desk-delete-client")


def test_a_form_that_was_refused_is_accessible_and_fits(open_page, owner, delegate, access_on):
    page = open_page(f"{DESK}/connection/add/", owner)
    inspect(page, "desk-new")
    page.get_by_role("button", name="Create the connection").evaluate(
        "b => b.form.noValidate = true"
    )
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    page.get_by_label("Expires in days").fill("99")
    page.get_by_role("button", name="Create the connection").click()
    expect(page.get_by_text("Choose at least one.")).to_be_visible()
    inspect(page, "desk-new-refused")
    turn_access(on=False)
    page.goto(f"{DESK}/connection/add/")
    inspect(page, "desk-new-off")


def test_the_longest_names_fit(open_page, owner, delegate, connect):
    delegate.name = "W" * 200
    delegate.save()
    connection, agent = connect(delegate, name="N" * 100)
    agent.call("tools.list")
    page = open_page(f"{DESK}/connection/", owner)
    inspect(page, "desk-connections-long")
    page.goto(f"{DESK}/connection/{connection.id}/")
    inspect(page, "desk-connection-long")
    page.goto(f"{DESK}/auditevent/?connection={connection.id}")
    inspect(page, "desk-events-long")
    assert AuditEvent.objects.filter(connection_id=connection.id).exists()


def test_access_is_turned_on_with_the_password(open_page, owner):
    page = open_page(f"{DESK}/accesssettings/", owner)
    follow(page.get_by_role("link", name="Turn on Agent access"))
    inspect(page, "desk-turn-on")
    page.get_by_label("Your own password").fill("a-wrong-password")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_label("Your own password")).to_have_accessible_description(
        "This is not your password."
    )
    inspect(page, "desk-turn-on-refused")
    assert not AccessSettings.read().access_on
    page.get_by_label("Your own password").fill(PASSWORD)
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("status")).to_have_text("Agent access is on.")
    assert AccessSettings.read().access_on
