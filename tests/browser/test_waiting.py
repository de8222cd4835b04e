"""What an agent asks for is seen on an open page without a reload, in a real browser."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, expect

from invoicing.models import Document
from invoicing.services.draft_input import Maker
from tests.approvals import Prepared, prepare
from tests.browser.inspection import inspect
from tests.factories import make_draft

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

TOLD = "A new request is waiting for you."


@pytest.fixture
def draft(delegate, customer) -> Document:
    return make_draft(user=delegate, customer=customer)


@pytest.fixture
def ask(delegate, draft, connection) -> Any:
    """Return a function with which the agent asks for the issue of the draft."""
    maker = Maker(connection.id, "Ledger agent")
    return lambda: prepare(draft, user=delegate, maker=maker, now=timezone.now())


def open_with_clock(open_page: Any, user: Any, path: str) -> Page:
    page: Page = open_page("/account", user)
    page.clock.install()
    page.goto(path)
    return page


def wait_for_answer(page: Page) -> None:
    with page.expect_response("**/approvals/waiting"):
        page.clock.run_for(timedelta(seconds=20) // timedelta(milliseconds=1))


def expect_count(page: Page, words: str) -> None:
    expect(page.get_by_role("navigation").get_by_role("link", name="Approvals")).to_have_text(words)


def decide(prepared: Prepared) -> None:
    prepared.decide(now=timezone.now())


def test_a_new_request_is_counted_and_told_on_any_page(open_page, delegate, ask):
    page = open_with_clock(open_page, delegate, "/customers")
    wait_for_answer(page)
    expect_count(page, "Approvals")
    first = ask()
    wait_for_answer(page)
    expect_count(page, "Approvals 1 waiting")
    expect(page.locator("#arrival")).to_have_text(TOLD)
    decide(first)
    wait_for_answer(page)
    expect_count(page, "Approvals")


def test_the_inbox_shows_it_on_demand(open_page, delegate, ask):
    page = open_with_clock(open_page, delegate, "/approvals")
    ask()
    wait_for_answer(page)
    expect(page.get_by_text(TOLD)).to_be_visible()
    inspect(page, "inbox-arrival")
    page.get_by_role("link", name="Show it").click()
    expect(page.get_by_role("link", name="Acme Ltd")).to_be_visible()
    expect(page.get_by_text(TOLD)).to_have_count(0)


def test_one_that_replaces_another_is_told_though_their_number_is_the_same(
    open_page, delegate, ask
):
    first = ask()
    page = open_with_clock(open_page, delegate, "/customers")
    wait_for_answer(page)
    expect(page.locator("#arrival")).to_have_text("")
    decide(first)
    ask()
    wait_for_answer(page)
    expect_count(page, "Approvals 1 waiting")
    expect(page.locator("#arrival")).to_have_text(TOLD)


def test_the_title_counts_while_another_tab_is_in_front(open_page, delegate, draft, ask):
    page = open_with_clock(open_page, delegate, f"/documents/{draft.id}")
    page.evaluate("Object.defineProperty(document, 'hidden', {writable: true, value: true})")
    ask()
    wait_for_answer(page)
    expect(page).to_have_title(f"(1) {draft.draft_code} · Invoicing")
    page.evaluate("document.hidden = false")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    # The title is the name of the file when an invoice is saved as a PDF.
    expect(page).to_have_title(f"{draft.draft_code} · Invoicing")


def test_a_page_whose_session_ended_asks_once_more_and_not_again(open_page, delegate, ask):
    page = open_with_clock(open_page, delegate, "/customers")
    Session.objects.all().delete()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wait_for_answer(page)
    ask()
    page.clock.run_for(timedelta(minutes=5) // timedelta(milliseconds=1))
    assert sum(url.endswith("example/approvals/waiting") for url in asked) == 1
    expect_count(page, "Approvals")
