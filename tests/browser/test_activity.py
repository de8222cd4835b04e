"""The activity of agents in a real browser: live, by keyboard alone, on a phone and in dark."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agent_access.models import Receipt
from invoicing.access import Permission
from invoicing.models import Document, User
from invoicing.services.drafts import ConnectionRef
from tests.approvals import prepare
from tests.browser.inspection import SPILT, fits, follow, inspect
from tests.factories import CustomerFactory, grant, line_input, make_draft

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

WIDTHS = (320, 390, 700, 768, 1024, 1440)
LONG = "Nordwind Maschinenbau und Vertriebsgesellschaft für Sonderanfertigungen mbH & Co. KG"
MISSING = "0190a3f6-0000-7000-8000-000000000000"
PAGE = "/agents/activity"


@pytest.fixture
def busy(owner: User, connect: Any, draft_body: Any, delegate: User) -> tuple[User, Any]:
    """The owner, and an agent of theirs that wrote and was refused, beside one of somebody else."""
    grant(owner, *Permission)
    held, agent = connect(owner, name="Ledger agent")
    for number in range(7):
        agent.call("drafts.create", draft_body, key=f"create-{number}")
    agent.call("documents.get", id=MISSING)
    for number in range(3):
        agent.call("drafts.create", {**draft_body, "currency_code": ""}, key=f"wrong-{number}")
    _, long_one = connect(delegate, name="W" * 100)
    CustomerFactory.create(name=LONG)
    long_one.call("drafts.create", draft_body, key="long")
    draft = Document.objects.first()
    assert draft is not None
    connection = ConnectionRef(held.id, held.name)
    prepare(draft, user=owner, connection=connection, now=timezone.now())
    big = make_draft(
        user=owner,
        customer=CustomerFactory.create(name=LONG),
        lines=(line_input(unit_price=123_456_789_012),),
    )
    Receipt.objects.create(
        connection=held,
        key="big",
        tool="drafts.create",
        record_id=big.pk,
        created_at=timezone.now() - timedelta(days=1),
    )
    return owner, agent


def test_what_agents_did_at_every_width(open_page, busy):
    page = open_page(PAGE, busy[0])
    expect(page.get_by_role("heading", name="Activity", level=1)).to_be_visible()
    inspect(page, "activity")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert fits(page), width
        assert page.evaluate(SPILT) == [], width


def test_nothing_yet(open_page, owner, delegate):
    inspect(open_page(PAGE, owner), "activity-empty-owner")
    inspect(open_page(PAGE, delegate), "activity-empty")


def test_the_filters_and_the_figures_are_used_by_keyboard(open_page, busy):
    page = open_page(PAGE, busy[0])
    page.locator("summary", has_text="Calls by day").press("Enter")
    expect(page.get_by_role("table", name="Calls by day")).to_be_visible()
    page.locator("summary", has_text="Outcome").press("Enter")
    inspect(page, "activity-filter")
    page.get_by_label("Outcome").select_option("refused")
    with page.expect_navigation():
        page.get_by_role("button", name="Apply").press("Enter")
    acts = page.locator("#acts")
    expect(acts.get_by_text("was refused drafts.create 3 times")).to_be_visible()
    expect(acts.get_by_text("wrote")).to_have_count(0)
    page.go_back()
    expect(acts.get_by_text("wrote 7 drafts")).to_be_visible()


def test_what_an_agent_does_meanwhile_is_shown_by_itself(open_page, busy, draft_body, monkeypatch):
    monkeypatch.setattr("invoicing.web.activity.page.ASKED_EVERY_SECONDS", 1)
    owner, agent = busy
    page = open_page(PAGE, owner)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    agent.call("drafts.create", draft_body, key="meanwhile")
    expect(page.get_by_text("New activity is shown.")).to_be_visible()
    # Between them stands what somebody else's agent did.
    first = page.locator("#acts li").first
    expect(first).to_contain_text("Ledger agent wrote draft")


def test_what_somebody_reads_is_not_replaced(open_page, busy, draft_body, monkeypatch):
    monkeypatch.setattr("invoicing.web.activity.page.ASKED_EVERY_SECONDS", 1)
    owner, agent = busy
    page = open_page(PAGE, owner)
    link = page.locator("#acts a.record").first
    link.focus()
    agent.call("drafts.create", draft_body, key="meanwhile")
    expect(page.get_by_text("There is new activity.")).to_be_visible()
    expect(link).to_be_focused()
    follow(page.get_by_role("link", name="Refresh"))
    expect(page.locator("#acts li").first).to_contain_text("Ledger agent wrote draft")


def test_a_page_that_is_open_for_long_stops_asking(open_page, busy, monkeypatch):
    monkeypatch.setattr("invoicing.web.activity.page.ASKED_EVERY_SECONDS", 1)
    monkeypatch.setattr("invoicing.web.activity.page.ASKED_FOR_MINUTES", 0)
    page = open_page(PAGE, busy[0])
    expect(page.get_by_text("No longer live.")).to_be_visible()


def test_nothing_is_asked_once_the_person_is_signed_out(open_page, busy, monkeypatch):
    monkeypatch.setattr("invoicing.web.activity.page.ASKED_EVERY_SECONDS", 1)
    page = open_page(PAGE, busy[0])
    page.context.clear_cookies()
    expect(page.get_by_text("No longer live.")).to_be_visible()


def test_without_scripts_the_page_says_the_same(open_page, busy):
    def text(page: Page) -> str:
        return page.locator("#acts").inner_text()

    without = open_page(PAGE, busy[0], java_script_enabled=False)
    assert text(without) == text(open_page(PAGE, busy[0]))
    expect(without.get_by_role("link", name="Refresh")).to_be_visible()


def test_a_connection_is_renamed_and_renewed_by_keyboard(open_page, busy):
    owner, _ = busy
    page = open_page("/admin/agent_access/connection/", owner)
    expect(page.get_by_text("Programs that may act for a person")).to_be_visible()
    inspect(page, "connections")
    with page.expect_navigation():
        page.get_by_role("link", name="Ledger agent").press("Enter")
    expect(page.get_by_role("heading", name="Its client")).to_be_visible()
    inspect(page, "connection")
    with page.expect_navigation():
        page.get_by_role("link", name="Rename").press("Enter")
    inspect(page, "connection-rename")
    page.get_by_label("Name", exact=True).fill("W" * 100)
    with page.expect_navigation():
        page.get_by_label("Name", exact=True).press("Enter")
    expect(page.get_by_role("status")).to_have_text("It has its new name.")
    inspect(page, "connection-long")
    with page.expect_navigation():
        page.get_by_role("link", name="Prepare the renewal").press("Enter")
    expect(page.get_by_label("Name", exact=True)).to_have_value("W" * 100)
    inspect(page, "connection-renewal")
    page.go_back()
    with page.expect_navigation():
        page.get_by_role("link", name="Revoke").press("Enter")
    expect(page.get_by_role("heading", name="What this stops")).to_be_visible()
    inspect(page, "connection-revoke")
