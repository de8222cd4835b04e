"""A page heard, gone through by keyboard alone, or widely spaced, in a real browser."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from agent_access.connections import revoke_connection
from agent_access.models.connections import RevokedReason
from invoicing.services.drafts import ConnectionRef
from invoicing.web.drafts.customers import LONGEST_LIST
from tests.approvals import Prepared, prepare
from tests.browser.inspection import fits
from tests.factories import PASSWORD, CustomerFactory, give_password, make_draft
from tests.web.reviews import path_of

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

# The spacing that WCAG 1.4.12 lets a reader choose.
SPACING = "* {line-height: 1.5; letter-spacing: 0.12em !important; word-spacing: 0.16em !important}"
NARROWEST = 320
# Whether something lies above the middle of what has the focus.
COVERED = """() => {
    const focused = document.activeElement;
    const {x, y, width, height} = focused.getBoundingClientRect();
    return !focused.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""


@pytest.fixture
def prepared(delegate, customer, connection) -> Prepared:
    draft = make_draft(user=delegate, customer=customer)
    maker = ConnectionRef(connection.id, "Ledger agent")
    return prepare(draft, user=delegate, connection=maker, now=timezone.now())


def run_on(page: Any, **time: int) -> None:
    page.clock.run_for(timedelta(**time) // timedelta(milliseconds=1))


def test_the_last_minute_and_the_end_of_the_time_are_told(open_page, delegate, prepared):
    page = open_page("/people", delegate)
    page.clock.install()
    page.goto(path_of(prepared))
    told = page.get_by_role("alert")
    run_on(page, minutes=8)
    expect(told).to_have_count(0)
    run_on(page, minutes=1)
    expect(told).to_have_text("The last minute to decide has begun.")
    run_on(page, minutes=1)
    expect(told).to_have_text(
        "The ten minutes have passed. Reload the page to see the current state."
    )


def test_where_only_rejecting_is_left_the_end_is_told_as_well(
    open_page, delegate, prepared, connection
):
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    page = open_page("/people", delegate)
    page.clock.install()
    page.goto(path_of(prepared))
    expect(page.get_by_role("timer")).to_have_count(1)
    run_on(page, minutes=9)
    expect(page.get_by_role("alert")).to_have_text("The last minute to decide has begun.")
    run_on(page, minutes=1)
    expect(page.get_by_role("alert")).to_contain_text("The ten minutes have passed.")


def test_a_list_of_approvals_shows_each_end_and_tells_the_first_alone(
    open_page, delegate, prepared
):
    prepare(make_draft(), user=delegate, now=prepared.approval.prepared_at)
    page = open_page("/people", delegate)
    page.clock.install()
    page.goto("/approvals")
    run_on(page, minutes=9, seconds=30)
    expect(page.get_by_role("alert")).to_have_count(0)
    run_on(page, minutes=1)
    told = "The ten minutes of a request in this list are over."
    expect(page.get_by_role("alert")).to_have_text(told)
    expect(page.get_by_text("Time is over", exact=True)).to_have_count(2)
    expect(page.get_by_text("Waiting for you", exact=True)).to_have_count(1)  # the heading


@pytest.mark.parametrize("key", ["Enter", "Tab"], ids=["by the Enter key", "by the button"])
def test_what_a_search_for_a_customer_found_is_told_where_one_goes_on(open_page, delegate, key):
    CustomerFactory.create_batch(LONGEST_LIST + 1)
    page = open_page("/documents/new", delegate, java_script_enabled=False)
    search = page.get_by_label("Find the customer")
    search.fill("nobody")
    page.keyboard.press(key)
    if key == "Tab":
        page.keyboard.press("Enter")
    expect(search).to_have_accessible_description("None was found.")
    expect(search).to_be_focused()


def test_an_open_filter_covers_nothing_that_the_tab_key_reaches(open_page, owner):
    CustomerFactory.create_batch(3)
    page = open_page("/admin/invoices/customer/", owner)
    page.locator("summary", has_text="Is active").click()
    records = page.locator("#result_list").get_by_role("link")
    for record in records.all():
        record.focus()
        assert not page.evaluate(COVERED), record.inner_text()


def test_every_field_of_a_draft_shows_that_it_has_the_focus(open_page, delegate, customer):
    page = open_page("/documents/new", delegate)
    page.get_by_label("Customer", exact=True).focus()
    ringed = {}
    while (name := page.evaluate("document.activeElement.name")) != "add_line":
        ringed[name] = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        page.keyboard.press("Tab")
    assert {"", "issue_date", "due_date", "line-0-unit_price"} <= set(ringed)
    assert set(ringed.values()) == {"solid"}


def test_wide_spacing_fits_the_narrowest_page(open_page, owner, delegate, agent, draft_body):
    draft = agent.call("drafts.create", draft_body, key="a-key").data
    agent.call("documents.issue_prepare", {"lock_version": 1}, id=draft["id"], key="b-key")
    page = open_page("/admin/agent_access/connection/", owner, bypass_csp=True)
    page.set_viewport_size({"width": NARROWEST, "height": 900})
    page.get_by_role("link", name="Test agent").click()
    expect(page.get_by_role("heading", name="Calls and decisions")).to_be_visible()
    page.add_style_tag(content=SPACING)
    assert fits(page)


def test_the_rules_of_a_new_password_are_told_with_its_field(open_page, delegate):
    give_password(delegate)
    page = open_page("/account", delegate)
    new = page.get_by_label("New password")
    rules = page.locator("#id_password_helptext").inner_text()
    assert "Your password must contain at least 12 characters." in rules.splitlines()
    expect(new).to_have_accessible_description(" ".join(rules.split()))
    page.get_by_label("Current password").fill(PASSWORD)
    for field in (new, page.get_by_label("Repeat the password")):
        field.fill("short")
    page.keyboard.press("Enter")
    told = re.compile("at least 12 characters.* This password is too short")
    expect(new).to_have_accessible_description(told)


def test_what_is_lent_and_for_how_long_is_explained_with_its_field(open_page, owner):
    page = open_page("/admin/agent_access/connection/add/", owner)
    hints = {
        "Acts as": "No call can do more than this person may do at that moment.",
        "Expires in days": "1 to 30. You can revoke access at any time before.",
    }
    for label, hint in hints.items():
        expect(page.get_by_label(label)).to_have_accessible_description(hint)
