"""A request decided in one look: beside the paper or in a bar, by keyboard alone, on a phone."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agent_access.approvals.models import Decision
from invoicing.fixed_point import SCALE
from invoicing.models import Document, User
from invoicing.services.drafts import ConnectionRef, update_draft
from tests.approvals import Prepared, prepare
from tests.browser.inspection import fits, inspect
from tests.factories import CustomerFactory, draft_input, line_input, make_draft
from tests.web.reviews import decision_of, path_of

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 800}


@pytest.fixture
def ask(delegate, customer, tax_rate, connection):
    """Return a function that asks for the issue of a draft, later by so many seconds."""

    def ask_for(name: str = "", *, later: int = 0, count: int = 1, **draft: Any) -> Prepared:
        buyer = CustomerFactory.create(name=name) if name else customer
        asked = (line_input(tax_rate_id=tax_rate.id),) * count
        values: dict[str, Any] = {"customer": buyer, "lines": asked, **draft}
        made = make_draft(user=delegate, **values)
        maker = ConnectionRef(connection.id, "Ledger agent")
        now = timezone.now() - timedelta(minutes=2) + timedelta(seconds=later)
        return prepare(made, user=delegate, connection=maker, now=now)

    return ask_for


def open_at(open_page: Any, asked: Prepared, person: User, size: Any, **options: Any) -> Page:
    page: Page = open_page(path_of(asked), person, viewport=size, **options)
    return page


def top_of(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box
    return float(box["y"])


def test_on_a_desk_the_decision_stands_beside_the_paper_and_stays(open_page, delegate, ask):
    page = open_at(open_page, ask(count=40), delegate, DESK)
    approve = page.get_by_role("button", name="Approve issue")
    expect(approve).to_be_in_viewport()
    assert page.evaluate(
        """() => document.querySelector('.paper').getBoundingClientRect().right
        < document.querySelector('.decision').getBoundingClientRect().left"""
    )
    page.mouse.wheel(0, 1500)
    expect(page.get_by_role("heading", level=1)).not_to_be_in_viewport()
    expect(approve).to_be_in_viewport()
    expect(page.get_by_role("button", name="Reject")).to_be_in_viewport()
    expect(page.get_by_role("timer")).to_be_in_viewport()


def test_on_a_phone_the_buttons_stay_in_a_bar_and_the_paper_ends_above_it(open_page, delegate, ask):
    page = open_at(open_page, ask(count=20), delegate, PHONE)
    for text in ("Approve issue", "Reject"):
        expect(page.get_by_role("button", name=text)).to_be_in_viewport(ratio=1)
    expect(page.locator(".bar")).to_contain_text("€2,380.00")
    expect(page.locator(".bar")).to_contain_text("Ledger agent")
    expect(page.locator(".bar")).to_contain_text("Issuing cannot be undone.")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    assert top_of(page, ".history") > top_of(page, ".bar") > top_of(page, ".meaning")
    assert fits(page)


def test_the_warnings_stand_above_the_paper_on_a_phone(open_page, delegate, ask):
    page = open_at(open_page, ask(), delegate, PHONE)
    assert top_of(page, ".warnings") < top_of(page, ".paper") < top_of(page, "#reason")


def test_what_has_the_focus_is_never_below_the_bar(open_page, delegate, ask):
    page = open_at(open_page, ask(count=20), delegate, PHONE)
    inside = page.locator("main")
    inside.evaluate("main => { main.tabIndex = -1; main.focus(); }")
    met = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        place = page.evaluate(
            """() => { const at = document.activeElement, box = at.getBoundingClientRect();
            const bar = document.querySelector('.bar'), edge = bar.getBoundingClientRect().top;
            return [at.id || at.textContent, bar.contains(at) || box.bottom <= edge + 1]; }"""
        )
        met.add(place[0].strip())
        assert place[1], place[0]
        if place[0] == "Reject":
            break
    assert {"reason", "Approve issue", "Reject"} <= met


def test_in_a_low_window_no_bar_covers_the_page(open_page, delegate, ask):
    page = open_at(open_page, ask(), delegate, {"width": 390, "height": 400})
    expect(page.get_by_role("button", name="Approve issue")).not_to_be_in_viewport()
    page.get_by_role("link", name="To the decision").click()
    expect(page.get_by_role("button", name="Approve issue")).to_be_in_viewport()


def test_the_time_left_is_a_bar_that_runs_down(open_page, delegate, ask):
    asked = ask()
    page = open_page("/people", delegate)
    page.clock.install()
    page.goto(path_of(asked))
    bar = page.locator("progress")
    begin = bar.evaluate("bar => [bar.max, bar.value]")
    assert begin[0] == 600
    assert 400 < begin[1] < 490
    page.clock.run_for(60_000)
    assert bar.evaluate("bar => bar.value") <= begin[1] - 59


def test_the_keys_move_and_decide_nothing(open_page, delegate, ask):
    first, second = ask(), ask("Bolt Ltd", later=1)
    page = open_at(open_page, first, delegate, DESK)
    expect(page.get_by_text("nothing is decided until you press Enter")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve issue")).to_be_focused()
    page.keyboard.press("r")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("ajk")  # and nothing of it moves while one types
    expect(page.get_by_label("Reason")).to_have_value("ajk")
    page.get_by_role("button", name="Reject").focus()
    page.keyboard.press("j")
    page.wait_for_url(f"**{path_of(second)}")
    page.keyboard.press("k")
    page.wait_for_url(f"**{path_of(first)}")
    assert [decision_of(each) for each in (first, second)] == ["", ""]


def test_the_keys_can_be_turned_off_and_stay_so(open_page, delegate, ask):
    page = open_at(open_page, ask(), delegate, DESK)
    page.get_by_role("button", name="Turn these keys off").click()
    page.reload()
    expect(page.get_by_role("button", name="Turn these keys on")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve issue")).not_to_be_focused()


def test_two_requests_are_decided_by_keyboard_alone_in_a_few_steps(open_page, delegate, ask):
    """A look, A, Enter; the next one is there: R, a reason, Tab twice, Enter."""
    first, second = ask(), ask("Bolt Ltd", later=1)
    page = open_at(open_page, first, delegate, DESK)
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{path_of(second)}?decided=*")
    expect(page.get_by_role("status").first).to_contain_text("You approved: Acme Ltd, €119.00.")
    page.wait_for_timeout(800)
    page.keyboard.press("r")
    page.keyboard.type("No.")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You rejected this issue")).to_be_visible()
    assert [decision_of(each) for each in (first, second)] == [Decision.APPROVED, Decision.REJECTED]


def test_a_second_click_decides_nothing_of_the_request_that_it_led_to(open_page, delegate, ask):
    first, second = ask(), ask("Bolt Ltd", later=1)
    page = open_page(f"{path_of(second)}?decided={first.approval.pk}", delegate)
    expect(page.get_by_text("You approved")).to_have_count(0)  # since nothing was decided
    first.decide(now=timezone.now())
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => setTimeout(() =>"
        " document.querySelector('button[value=approve]')?.click()))"
    )
    page.reload()
    expect(page.get_by_text("You approved: Acme Ltd")).to_be_visible()
    page.wait_for_timeout(900)
    assert decision_of(second) == ""
    page.get_by_role("button", name="Approve issue").click()
    expect(page.get_by_role("heading", name="You approved this issue")).to_be_visible()


def test_without_scripts_all_of_it_is_there_but_the_keys(open_page, delegate, ask):
    first, second = ask(), ask("Bolt Ltd", later=1)
    page = open_at(open_page, first, delegate, PHONE, java_script_enabled=False)
    expect(page.get_by_role("timer")).to_contain_text(" min ")
    expect(page.locator("progress")).to_be_visible()
    expect(page.locator(".keys")).to_be_hidden()
    page.get_by_role("button", name="Approve issue").click()
    expect(page.get_by_text("You approved: Acme Ltd, €119.00.")).to_be_visible()
    expect(page).to_have_url(re.compile(path_of(second)))


@pytest.fixture
def changed(ask, delegate, tax_rate, connection) -> Prepared:
    """A request after a rejection: a line more, a line less, another price and other notes."""
    lines = tuple(
        line_input(description=text, tax_rate_id=tax_rate.id)
        for text in ("Consulting on site", "Travel", "Workshop, with all that it takes")
    )
    first = ask("Altmühl Brauerei GmbH", count=3, notes="Thank you.")
    draft = Document.objects.get(pk=first.document.pk)
    update_draft(delegate, draft.pk, draft_input(draft.customer, *lines), lock_version=1)
    draft.refresh_from_db()
    maker = ConnectionRef(connection.id, "Ledger agent")
    seen = prepare(draft, user=delegate, connection=maker, now=timezone.now())
    seen.decide(Decision.REJECTED, reason="Wrong price.", now=timezone.now())
    after = (
        line_input(description="Preparation", quantity=SCALE, tax_rate_id=tax_rate.id),
        line_input(description="Consulting on site", unit_price=8900, tax_rate_id=tax_rate.id),
        lines[2],
    )
    again = draft_input(draft.customer, *after, notes="As agreed by phone.")
    update_draft(delegate, draft.pk, again, lock_version=2)
    draft.refresh_from_db()
    return prepare(draft, user=delegate, connection=maker, now=timezone.now())


def test_the_differences_read_well_in_the_paper(open_page, delegate, changed, ask):
    ask("Bolt Ltd", later=600)
    page = open_at(open_page, changed, delegate, DESK)
    expect(page.get_by_role("heading", name="Changed since you rejected it")).to_be_visible()
    for text in ("Added", "Removed"):
        expect(page.locator(".mark", has_text=text)).to_be_visible()
    expect(page.get_by_role("insertion").first).to_be_visible()
    expect(page.get_by_role("deletion").first).to_be_visible()
    inspect(page, "review-differences")


def test_the_longest_texts_fit_beside_and_below(open_page, delegate, ask):
    """In the panel, in the bar and in the paper, on a desk, a tablet and a phone."""
    asked = ask(
        "W" * 200,
        currency_code="BHD",
        lines=(line_input(description="W" * 300, unit_price=9 * 10**12, quantity=9999 * SCALE),),
    )
    page = open_page(path_of(asked), delegate)
    inspect(page, "review-longest")
    for width in (1440, 1101, 1099, 768, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert fits(page), width
