"""What was typed into a draft outlives a crash of the tab and a sign-out, for its writer alone."""

import json
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from invoicing.access import Permission
from invoicing.models import Document
from invoicing.services.drafts import update_draft
from tests.browser.drafts import choose_customer, line, texts_of, type_line
from tests.browser.inspection import inspect
from tests.browser.test_late_forms import sign_in_on
from tests.factories import draft_input, give_password, make_draft, make_staff

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

SECRET = "An hour of typing"
KEPT = "[...Object.keys(localStorage)].filter(name => name.startsWith('draft.'))"
A_WEEK = 7 * 24 * 60 * 60 * 1000


def wait_until_kept(page: Page) -> None:
    expect(page.locator("#kept")).to_contain_text("Draft saved in this browser")


def crash(page: Page) -> Page:
    """Close the tab without a question, and open another one in the same browser."""
    context = page.context
    page.close(run_before_unload=False)
    return context.new_page()


@pytest.fixture
def page(open_page, delegate, customer, tax_rate) -> Any:
    """The form of a new draft, in which something was typed and kept."""
    page = open_page("/documents/new", delegate)
    type_line(page, 1, description=SECRET, quantity="2")
    page.keyboard.press("Enter")
    type_line(page, 2, description="Second,\nin two lines", quantity="3")
    wait_until_kept(page)
    return page


def test_a_crash_of_the_tab_loses_nothing(page, customer):
    page = crash(page)
    page.goto("/documents/new")
    expect(page.locator("#kept-offer")).to_contain_text("You did not save what you typed here.")
    inspect(page, "draft-kept")
    page.get_by_role("button", name="Continue with what you typed").click()
    expect(line(page, 2)).to_be_visible()
    assert texts_of(page) == [SECRET, "Second,\nin two lines"]
    choose_customer(page, "acme")
    for number in (1, 2):
        type_line(page, number, unit_price="1")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("main")).to_contain_text("Written by Dana Delegate")
    assert Document.objects.get().lines.count() == 2
    page.wait_for_function(f"{KEPT}.length === 0")  # what is saved is forgotten


def test_a_sign_out_loses_nothing_and_shows_it_to_nobody_else(page, delegate, company):
    other = make_staff(Permission.VIEW_DOCUMENT, Permission.VIEW_CUSTOMER, Permission.MANAGE)
    give_password(other)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Sign out").click()
    page.goto("/documents/new")
    sign_in_on(page, other)
    expect(page.get_by_role("heading", name="New draft")).to_be_visible()
    page.wait_for_function("document.querySelector('.entry') !== null")
    expect(page.locator("#kept-offer")).to_be_hidden()
    # It is there, and neither its name nor what it holds can be read.
    [name] = page.evaluate(KEPT)
    sealed = page.evaluate("name => localStorage.getItem(name)", name)
    assert SECRET not in sealed
    assert str(delegate.pk) not in name + sealed
    assert name.split(".")[1] not in page.content()
    page.get_by_role("button", name="Sign out").click()
    page.goto("/documents/new")
    sign_in_on(page, delegate)
    page.get_by_role("button", name="Continue with what you typed").click()
    expect(line(page, 1).get_by_label("Description")).to_have_value(SECRET)


def change(page: Page, **parts: Any) -> None:
    """Change what the browser keeps by hand."""
    [name] = page.evaluate(KEPT)
    kept = json.loads(page.evaluate("name => localStorage.getItem(name)", name))
    changed = json.dumps(kept | parts)
    page.evaluate("([name, text]) => localStorage.setItem(name, text)", [name, changed])


def test_what_was_changed_by_hand_is_not_opened(page):
    change(page, sealed="A" * 80)
    page = crash(page)
    page.goto("/documents/new")
    page.wait_for_function(f"{KEPT}.length === 0")
    expect(page.locator("#kept-offer")).to_be_hidden()


def test_what_is_discarded_or_cancelled_is_forgotten(page):
    page = crash(page)
    page.goto("/documents/new")
    page.get_by_role("button", name="Discard it").click()
    expect(page.locator("#kept-offer")).to_be_hidden()
    assert page.evaluate(KEPT) == []
    type_line(page, 1, description="Again")
    wait_until_kept(page)
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", name="Invoices")).to_be_visible()
    assert page.evaluate(KEPT) == []


def test_after_a_week_it_is_forgotten(page):
    change(page, at=page.evaluate("Date.now()") - A_WEEK - 1000)
    page = crash(page)
    page.goto("/documents/new")
    page.wait_for_function(f"{KEPT}.length === 0")
    expect(page.locator("#kept-offer")).to_be_hidden()


def test_who_continues_a_draft_that_was_changed_meanwhile_sees_what_differs(
    open_page, delegate, customer
):
    draft = make_draft(user=delegate, customer=customer)
    page = open_page(f"/documents/{draft.id}/edit", delegate)
    page.locator("[name=reference]").fill("Mine")
    wait_until_kept(page)
    page = crash(page)
    update_draft(delegate, draft.pk, draft_input(customer, reference="Theirs"), lock_version=1)
    page.goto(f"/documents/{draft.id}/edit")
    offer = page.locator("#kept-offer")
    expect(offer).to_contain_text("Somebody has changed the draft since")
    expect(page.locator("[name=reference]")).to_have_value("Theirs")
    offer.get_by_role("button", name="Continue with what you typed").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Somebody changed this draft while you were writing")
    expect(alert.get_by_role("row", name="Reference")).to_contain_text("Theirs")
    expect(page.locator("[name=reference]")).to_have_value("Mine")
    assert Document.objects.get().reference == "Theirs"


def test_what_the_server_has_too_is_not_offered(open_page, delegate, customer):
    draft = make_draft(user=delegate, customer=customer, reference="PO 7")
    page = open_page(f"/documents/{draft.id}/edit", delegate)
    page.locator("[name=reference]").fill("PO 8")
    page.locator("[name=reference]").fill("PO 7")
    wait_until_kept(page)
    page = crash(page)
    page.goto(f"/documents/{draft.id}/edit")
    expect(page.get_by_role("combobox", name="Customer")).to_have_value("Acme Ltd, Amsterdam")
    expect(page.locator("#kept-offer")).to_be_hidden()


def test_whose_session_ended_is_told_while_typing(page):
    Session.objects.all().delete()
    type_line(page, 1, quantity="4")
    expect(page.locator("#late")).to_contain_text("You are no longer signed in.")
    expect(page.locator("#line-1 [name$='-description']")).to_have_value(SECRET)
