"""The home page in a real browser: in light and dark, at every width, and by keyboard alone."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agent_access.verification import keep_result
from invoicing.access import Permission
from invoicing.models import Document, User
from invoicing.services.drafts import ConnectionRef
from tests.approvals import prepare
from tests.browser.inspection import SPILT, fits, inspect
from tests.factories import (
    CustomerFactory,
    UserFactory,
    grant,
    line_input,
    make_draft,
    make_issued,
)

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

WIDTHS = (320, 390, 700, 768, 1024, 1440)
LONG = "Nordwind Maschinenbau und Vertriebsgesellschaft für Sonderanfertigungen mbH & Co. KG"
MISSING = "0190a3f6-0000-7000-8000-000000000000"


@pytest.fixture
def busy(owner: User, connect: Any, draft_body: Any, delegate: User) -> User:
    """The owner on a busy day: agents wrote for them, and what they wrote was issued for a year."""
    grant(owner, *Permission)
    held, agent = connect(owner, name="Ledger agent")
    connect(delegate, days=2, name="W" * 100)
    for number in range(3):
        agent.call("drafts.create", draft_body, key=f"create-{number}")
        agent.call("documents.get", id=MISSING)
    agent.call("drafts.create", {**draft_body, "currency_code": ""}, key="wrong")
    draft = Document.objects.first()
    assert draft is not None
    now = timezone.now()
    prepare(draft, user=owner, connection=ConnectionRef(held.id, held.name), now=now)
    customer = CustomerFactory.create(name=LONG)
    make_draft(user=owner, customer=customer, lines=(line_input(unit_price=123_456_789_012),))
    for month in range(12):
        day = (now - timedelta(days=30 * month)).date()
        lines = (line_input(unit_price=100_000 + month % 5 * 60_000),)
        for currency_code in ("EUR", "JPY") if month % 3 == 0 else ("EUR",):
            make_issued(
                customer=customer,
                lines=lines,
                currency_code=currency_code,
                issue_date=day,
                due_date=day + timedelta(days=14),
            )
    keep_result(broken=0)
    return owner


def test_a_busy_day(open_page, busy):
    page = open_page("/", busy)
    expect(page.get_by_role("heading", name="Waiting for you", level=2)).to_be_visible()
    inspect(page, "home-busy")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert fits(page), width
        assert page.evaluate(SPILT) == [], width


def test_the_figures_of_a_chart_are_opened_by_keyboard(open_page, busy):
    page = open_page("/", busy)
    summary = page.locator("summary", has_text="Figures by month in EUR")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("table", name="Issued by month in EUR")).to_be_visible()
    inspect(page, "home-figures")


@pytest.mark.parametrize("who", ["owner", "nobody"])
def test_an_empty_day(open_page, owner, who):
    person = owner if who == "owner" else UserFactory.create(name="Nora New")
    page = open_page("/", person)
    expect(page.get_by_text("Nothing is waiting for you.")).to_be_visible()
    inspect(page, f"home-empty-{who}")


def test_without_scripts_the_page_says_the_same(open_page, busy):
    def text(page: Page) -> str:
        return page.get_by_role("main").inner_text().partition("Agents of everybody")[2]

    assert text(open_page("/", busy, java_script_enabled=False)) == text(open_page("/", busy))
