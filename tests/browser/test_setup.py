"""The checklist, the proposal of rates and the connecting page, as people see and use them."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from invoicing.access import Permission
from invoicing.models import Company, TaxRate, User
from invoicing.web.setup.clients import CLIENTS
from tests.browser.inspection import SPILT, fits, inspect
from tests.factories import UserFactory

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

WIDTHS = (320, 390, 768, 1440)
LONG = "Nordwind Maschinenbau und Vertriebsgesellschaft für Sonderanfertigungen mbH & Co. KG" * 2
HIDE = """is_hidden => Object.defineProperty(document, "hidden",
    {value: Boolean(is_hidden), configurable: true})"""
LATER = """() => new Promise(done => new PerformanceObserver(list => done(list.getEntries()
    .reduce((sum, each) => sum + each.value, 0))).observe({type: "layout-shift", buffered: true})
    || setTimeout(() => done(0), 300))"""


@pytest.fixture
def first(transactional_db: None) -> User:
    return UserFactory.create(name="Fay First", is_staff=True, is_superuser=True)


def fits_everywhere(page: Page) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert fits(page), width
        assert page.evaluate(SPILT) == [], width


def test_the_checklist_of_an_empty_installation(open_page, first):
    page = open_page("/", first)
    expect(page.get_by_role("heading", name="Next: Company")).to_be_visible()
    assert page.evaluate(LATER) < 0.01
    inspect(page, "setup-home")
    page.get_by_role("link", name="All steps").click()
    expect(page.get_by_role("heading", name="Set up invoicing", level=1)).to_be_visible()
    inspect(page, "setup-empty")
    fits_everywhere(page)


def test_the_checklist_with_what_a_company_lacks_and_the_longest_names(open_page, owner):
    Company.objects.update(name=LONG[:200], iban="", vat_number="")
    page = open_page("/setup", owner)
    inspect(page, "setup-lacking")
    fits_everywhere(page)


def test_the_proposal_is_confirmed_by_keyboard_alone(open_page, owner):
    page = open_page("/setup/taxes", owner)
    inspect(page, "setup-taxes")
    fits_everywhere(page)
    page.locator("summary").click()
    inspect(page, "setup-taxes-small-business")
    page.get_by_role("checkbox", name="Reduced rate").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Use these rates").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="saved")).to_be_visible()
    inspect(page, "setup-taxes-saved")
    assert "Reduced rate" not in TaxRate.objects.values_list("name", flat=True)


@pytest.mark.parametrize("client", [each.key for each in CLIENTS])
def test_each_client_s_page_fits_and_is_accessible(open_page, owner, client):
    page = open_page(f"/setup/connect?client={client}", owner)
    inspect(page, f"connect-{client}")
    fits_everywhere(page)


def test_the_lines_are_copied_by_keyboard_and_it_is_told(open_page, owner):
    permissions = ["clipboard-read", "clipboard-write"]
    page = open_page("/setup/connect", owner, permissions=permissions)
    button = page.get_by_role("button", name="Copy").first
    button.focus()
    page.keyboard.press("Enter")
    copied = page.get_by_role("button", name="Copied")
    expect(copied).to_have_attribute("aria-live", "polite")
    lines = page.evaluate("navigator.clipboard.readText()")
    assert lines == "claude mcp add --transport http invoicing https://invoices.example/mcp"


def test_the_open_page_tells_of_the_first_call_and_asks_no_more(
    open_page, owner, delegate, connect
):
    page = open_page("/setup/connect", owner)
    page.clock.install(time=timezone.now())
    page.reload()
    place = page.locator(".call")
    expect(place).to_have_text("Waiting for the first call …", use_inner_text=True)
    _, agent = connect(delegate, name="Ledger agent")
    page.clock.run_for(3100)
    waits = "Ledger agent is connected. Waiting for its first call …"
    expect(place).to_have_text(waits, use_inner_text=True)
    agent.call("customers.search")
    page.clock.run_for(3100)
    expect(place).to_contain_text("The first call arrived: Ledger agent called customers.search")
    expect(place).to_have_attribute("data-came", "yes")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(20000)
    assert [each for each in asked if "call" in each] == []
    inspect(page, "connect-came")


def test_a_page_that_is_hidden_asks_nothing(open_page, owner):
    page = open_page("/setup/connect", owner)
    page.clock.install(time=timezone.now())
    page.reload()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(HIDE, "true")
    page.clock.run_for(20000)
    assert [each for each in asked if "setup/connect/call" in each] == []
    page.evaluate(HIDE, "")
    with page.expect_request(lambda request: "setup/connect/call" in request.url):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_without_scripts_a_link_refreshes_and_the_lines_are_there(
    open_page, owner, delegate, connect
):
    page = open_page("/setup/connect?client=http", owner, java_script_enabled=False)
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    _, agent = connect(delegate, name="Ledger agent")
    agent.call("customers.search")
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_text("The first call arrived: Ledger agent called")).to_be_visible()
    expect(page.get_by_role("link", name="Refresh")).to_have_count(0)


def test_the_draft_form_says_what_is_missing_and_who_mends_it(open_page, owner, first: Any):
    writer = UserFactory.create(permissions=tuple(Permission))
    page = open_page("/documents/new", writer)
    expect(page.get_by_text("There is no tax rate yet")).to_be_visible()
    expect(page.get_by_text("Ask the owner, Olivia Owner.")).to_be_visible()
    inspect(page, "draft-lacking")
