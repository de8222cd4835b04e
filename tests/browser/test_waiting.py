"""What an agent asks for is seen on an open page without a reload, in a real browser."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, Request, expect

from agent_access.connections import revoke_connection
from agent_access.models.connections import RevokedReason
from invoicing.access import Permission
from invoicing.models import Customer, Document
from invoicing.services.drafts import ConnectionRef
from tests.approvals import Prepared, prepare
from tests.browser.inspection import inspect
from tests.factories import grant, make_draft, withdraw
from tests.web.reviews import path_of

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

TOLD = "A new request is waiting for you."


@pytest.fixture
def draft(delegate, customer) -> Document:
    return make_draft(user=delegate, customer=customer)


@pytest.fixture
def ask(delegate, customer, connection) -> Any:
    """Return a function with which the agent asks for the issue of a new draft."""
    maker = ConnectionRef(connection.id, "Ledger agent")

    def ask() -> Prepared:
        draft = make_draft(user=delegate, customer=customer)
        return prepare(draft, user=delegate, connection=maker, now=timezone.now())

    return ask


def open_with_clock(open_page: Any, user: Any, path: str) -> Page:
    page: Page = open_page("/account", user)
    page.clock.install()
    page.goto(path)
    return page


def wait_for_answer(page: Page, path: str = "/approvals/waiting", seconds: int = 20) -> None:
    """Let the page ask, and read the answer: its clock would end a request that is under way."""
    with page.expect_request_finished(lambda request: request.url.endswith(path)):
        page.clock.run_for(timedelta(seconds=seconds) // timedelta(milliseconds=1))
    page.evaluate("null")


def run_for_minutes(page: Page, minutes: int) -> None:
    page.clock.run_for(timedelta(minutes=minutes) // timedelta(milliseconds=1))


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
    second = ask()
    wait_for_answer(page)
    expect(page.locator("#arrival")).to_have_text(f"{TOLD[:-1]}, 2 in all.")
    decide(first)
    decide(second)
    wait_for_answer(page)
    expect_count(page, "Approvals")
    expect(page.locator("#arrival")).to_have_text("")


def test_the_inbox_shows_it_on_demand(open_page, delegate, ask):
    page = open_with_clock(open_page, delegate, "/approvals")
    # Screen readers tell of a change in a region that was there before, though empty.
    assert "polite" in live_regions(page)
    ask()
    wait_for_answer(page)
    expect(page.get_by_text(TOLD)).to_be_visible()
    inspect(page, "inbox-arrival")
    page.get_by_role("link", name="Show it").focus()
    ask()
    wait_for_answer(page)
    expect(page.get_by_role("link", name="Show it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Acme Ltd")).to_have_count(2)
    expect(page.get_by_text("A new request")).to_have_count(0)


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


def listen(page: Page, path: str) -> list[str]:
    """Return a list that grows by each request for this path."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith(path) and request.redirected_from is None:
            asked.append(request.url)

    page.on("request", note)
    return asked


def live_regions(page: Page) -> list[str]:
    """Return how urgent each live region is that the accessibility tree has."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    properties = [each for node in nodes for each in node.get("properties", ())]
    return [each["value"]["value"] for each in properties if each["name"] == "live"]


def come_to_the_front(page: Page) -> None:
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_a_page_that_comes_to_the_front_asks_at_once(open_page, delegate, ask):
    page = open_with_clock(open_page, delegate, "/customers")
    ask()
    come_to_the_front(page)
    expect_count(page, "Approvals 1 waiting")


def test_a_page_whose_session_ended_asks_once_more_and_then_at_the_front(open_page, delegate):
    page = open_with_clock(open_page, delegate, "/customers")
    asked = listen(page, "example/approvals/waiting")
    Session.objects.all().delete()
    wait_for_answer(page)
    run_for_minutes(page, 5)
    assert len(asked) == 1
    with page.expect_response("**/approvals/waiting"):
        come_to_the_front(page)
    run_for_minutes(page, 5)
    assert len(asked) == 2


def test_a_server_that_hangs_is_asked_by_one_request_at_a_time(open_page, delegate):
    page = open_with_clock(open_page, delegate, "/customers")
    asked = listen(page, "/approvals/waiting")
    page.route("**/approvals/waiting", lambda _: None)
    page.clock.run_for(40_000)
    come_to_the_front(page)
    page.clock.run_for(20_000)
    assert len(asked) == 1
    # After half a minute the page gave up, and asks again as usual.
    with page.expect_request("**/approvals/waiting"):
        page.clock.run_for(25_000)


@pytest.mark.parametrize("answer", [{"status": 503}, {"body": "<p>Maintenance"}])
def test_it_goes_on_asking_after_an_answer_that_tells_nothing(open_page, delegate, ask, answer):
    page = open_with_clock(open_page, delegate, "/customers")
    page.route("**/approvals/waiting", lambda route: route.fulfill(**answer), times=1)
    ask()
    # Nobody tells when an answer that no server gave is finished.
    with page.expect_response("**/approvals/waiting"):
        page.clock.run_for(20_000)
    wait_for_answer(page)
    expect_count(page, "Approvals 1 waiting")


@pytest.fixture
def approved(open_page, delegate, ask) -> tuple[Page, Prepared]:
    """The page of an approved request, and the request."""
    prepared = ask()
    decide(prepared)
    path = path_of(prepared)
    return open_with_clock(open_page, delegate, path), prepared


def test_an_approval_is_withdrawn_by_keyboard(approved):
    page, _ = approved
    page.get_by_role("button", name="Withdraw the approval").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The draft has changed")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("You withdrew your approval")
    inspect(page, "review-withdrawn")


def test_an_approved_page_stays_until_something_changed(approved):
    page, prepared = approved
    opened = listen(page, path_of(prepared))
    with page.expect_response("**/version"):
        page.clock.run_for(3000)
    with page.expect_response("**/version"):
        page.clock.run_for(3000)
    assert opened == []
    prepared.execute(now=timezone.now())
    page.clock.run_for(3000)
    expect(page.get_by_role("heading", name="This invoice is issued")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(str(Document.objects.get().number))


def test_an_approved_page_says_that_the_connection_has_ended(approved, connection):
    page, _ = approved
    revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
    page.clock.run_for(3000)
    expect(page.get_by_role("main")).to_contain_text("the connection that asked for it has ended")


def test_an_approved_page_asks_no_more_once_it_may_not(approved):
    page, _ = approved
    asked = listen(page, "/version")
    Session.objects.all().delete()
    with page.expect_response("**/version"):
        page.clock.run_for(3000)
    run_for_minutes(page, 1)
    assert len(asked) == 1


OUTDATED = "This request is not as shown here any more."


@pytest.fixture
def pending(open_page, delegate, ask) -> tuple[Page, Prepared]:
    """The page of a request that waits for a decision, and the request."""
    prepared = ask()
    return open_with_clock(open_page, delegate, path_of(prepared)), prepared


def wait_for_standing(page: Page) -> None:
    wait_for_answer(page, "/version", seconds=10)


def test_a_pending_page_tells_that_the_draft_has_changed_and_keeps_what_is_typed(pending):
    page, _ = pending
    page.get_by_label("Reason").fill("The customer has moved.")
    wait_for_standing(page)
    status = page.get_by_role("status")
    expect(status).to_have_text("")
    Customer.objects.update(name="Acme Limited")
    wait_for_standing(page)
    expect(status).to_have_text(f"{OUTDATED} Show it as it is now.")
    expect(page.get_by_label("Reason")).to_have_value("The customer has moved.")
    inspect(page, "review-outdated")
    page.get_by_role("link", name="Show it as it is now").focus()
    wait_for_standing(page)
    expect(page.get_by_role("link", name="Show it as it is now")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The draft has changed")).to_be_visible()


def test_a_pending_page_takes_back_what_is_not_so_any_more(pending, delegate):
    page, _ = pending
    withdraw(delegate, Permission.MANAGE)
    wait_for_standing(page)
    expect(page.get_by_role("status")).to_contain_text(OUTDATED)
    grant(delegate, Permission.MANAGE)
    wait_for_standing(page)
    expect(page.get_by_role("status")).to_have_text("")


def test_a_pending_page_asks_no_more_once_the_ten_minutes_have_passed(pending):
    page, prepared = pending
    asked = listen(page, "/version")
    with time_machine.travel(prepared.approval.expires_at):
        wait_for_standing(page)
        run_for_minutes(page, 15)
    assert len(asked) == 1
    expect(page.get_by_role("main")).to_contain_text("The ten minutes have passed.")
    expect(page.get_by_role("status")).to_have_text("")
