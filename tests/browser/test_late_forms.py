"""People whose session ended while they typed, in a real browser."""

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from agent_access.models.settings import AccessSettings
from invoicing.models import Document, User
from tests.browser.drafts import choose_customer
from tests.browser.inspection import inspect
from tests.factories import PASSWORD, give_password

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

LONG = "An hour of typing,\nin two lines"


def sign_in_on(page: Page, user: User) -> None:
    if not user.check_password(PASSWORD):
        give_password(user)
    page.get_by_label("Work e-mail").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


@pytest.fixture
def page(open_page, delegate, customer, tax_rate) -> Page:
    """The form of a new draft, filled in."""
    page: Page = open_page("/documents/new", delegate)
    choose_customer(page, "acme")
    page.get_by_label("Description").fill(LONG)
    page.get_by_label("Quantity").fill("1.5")
    page.get_by_label("Unit price").fill("10.50")
    return page


def expect_saved_at_last(page: Page) -> None:
    assert not Document.objects.exists()
    page.get_by_role("button", name="Continue with what you typed").click()
    expect(page.get_by_label("Description")).to_have_value(LONG)
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("main")).to_contain_text("Written by Dana Delegate")
    assert Document.objects.get().lines.get().description == LONG


def test_a_session_that_ended_loses_nothing_that_was_typed(page, delegate):
    Session.objects.all().delete()
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("alert")).to_contain_text("What you typed is kept")
    inspect(page, "sign-in-late")
    sign_in_on(page, delegate)
    expect(page.get_by_role("heading", name="Nothing was saved yet")).to_be_visible()
    inspect(page, "late-form")
    expect_saved_at_last(page)


def test_nor_does_signing_in_anew_in_another_tab(page, delegate):
    Session.objects.all().delete()
    other = page.context.new_page()
    other.goto("/documents")
    sign_in_on(other, delegate)
    expect(other.get_by_role("heading", name="Invoices")).to_be_visible()
    page.get_by_role("button", name="Save draft").click()
    expect_saved_at_last(page)


def test_a_second_tab_that_asks_to_sign_in_leads_on_too(open_page, delegate):
    page = open_page("/people")
    other = page.context.new_page()
    other.goto("/customers")
    sign_in_on(page, delegate)
    expect(page.get_by_role("heading", name="People")).to_be_visible()
    sign_in_on(other, delegate)
    expect(other.get_by_role("heading", name="Customers")).to_be_visible()


def test_who_stops_all_agents_too_late_finds_the_button_again(open_page, owner, access_on):
    page = open_page("/admin/", owner)
    Session.objects.all().delete()
    page.get_by_role("button", name="Stop all agents now").click()
    sign_in_on(page, owner)
    page.get_by_role("button", name="Stop all agents now").click()
    expect(page.get_by_role("status")).to_contain_text("All agents are stopped.")
    assert not AccessSettings.read().access_on
