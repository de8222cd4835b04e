"""The lists in a real browser: by keyboard alone, on a phone, in the dark, and without scripts."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from invoicing.access import Permission
from invoicing.models import DocumentType, User
from invoicing.services.drafts import ConnectionRef
from tests.approvals import prepare
from tests.browser.inspection import SPILT, find_violations, fits, follow, inspect
from tests.factories import (
    CustomerFactory,
    UserFactory,
    grant,
    line_input,
    make_connection_ref,
    make_draft,
    make_issued,
)

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

WIDTHS = (320, 390, 700, 768, 1024, 1440)
LONG = "Nordwind Maschinenbau und Vertriebsgesellschaft für Sonderanfertigungen mbH & Co. KG"
PATHS = ("/documents", "/customers", "/people")
FOCUSED = "document.activeElement.innerText"


@pytest.fixture
def full(owner: User, connect: Any) -> User:
    """An owner with documents of every kind, in several currencies, one of which waits."""
    grant(owner, *Permission)
    owner.name = "Maximiliane-Katharina von Hohenstaufen-Lichtenberg"
    owner.save()
    held, _ = connect(owner, name="Ledger agent")
    long = CustomerFactory.create(name=LONG)
    short = CustomerFactory.create(name="Acme Ltd")
    for customer, currency in ((long, "EUR"), (short, "USD"), (short, "JPY"), (long, "BHD")):
        lines = (line_input(unit_price=123_456_789),)
        make_issued(user=owner, customer=customer, lines=lines, currency_code=currency)
    agent = make_connection_ref("W" * 100)
    make_draft(user=owner, customer=short, connection=agent)
    make_issued(user=owner, customer=short, document_type=DocumentType.CREDIT_NOTE)
    waits = make_draft(user=owner, customer=short)
    now = timezone.now()
    prepare(waits, user=owner, connection=ConnectionRef(held.id, held.name), now=now)
    UserFactory.create(name="Nora New")
    return owner


def chip(page: Page, label: str) -> Any:
    return page.locator("summary", has_text=label)


@pytest.mark.parametrize("path", PATHS)
def test_a_list_fits_every_width_in_light_and_dark(open_page, full, path):
    page = open_page(path, full)
    inspect(page, f"list{path.replace('/', '-')}")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert fits(page), width
        assert page.evaluate(SPILT) == [], width


def test_filters_that_are_open_fit_every_width(open_page, full):
    page = open_page("/documents?currency_code=EUR&least=5&find_customer=nord", full)
    for label in ("Customer", "Written by", "Issue date", "Currency", "Amount", "Order"):
        summary = chip(page, label)
        if label != "Customer":  # whose search has opened it
            summary.click()
        for width in (320, 390, 768, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            assert fits(page), (label, width)
        inspect(page, f"list-filter-{label.lower().replace(' ', '-')}")
        summary.click()


@pytest.mark.parametrize("path", PATHS)
def test_keys_move_through_a_list_and_open_what_has_the_focus(open_page, full, path):
    CustomerFactory.create(name="Zeta Inc")
    page = open_page(path, full)
    names = page.locator(".list .record").all_inner_texts()
    assert len(names) >= 2
    reached = []
    for key in ("j", "j", "k", "k"):
        page.keyboard.press(key)
        reached.append(page.evaluate(FOCUSED))
    assert reached == [names[0], names[1], names[0], names[0]]
    with page.expect_navigation():
        page.keyboard.press("o")
    expect(page.get_by_role("main")).to_contain_text(names[0])
    assert not page.url.endswith(path)


def test_the_keys_are_plain_letters_while_somebody_types(open_page, full):
    page = open_page("/documents", full)
    page.keyboard.press("/")
    search = page.get_by_role("searchbox", name="Search by number")
    expect(search).to_be_focused()
    expect(search).to_have_value("")
    page.keyboard.type("/jko?")
    expect(search).to_have_value("/jko?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+j")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_keys_are_told_of_and_turned_off_by_keyboard(open_page, full):
    page = open_page("/documents", full)
    page.keyboard.press("j")
    first = page.evaluate(FOCUSED)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    assert find_violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.evaluate(FOCUSED) == first  # where it was
    page.keyboard.press("?")
    page.get_by_role("button", name="Turn these keys off").press("Enter")
    page.get_by_role("button", name="Close").press("Enter")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == first
    page.reload()
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Keys").press("Enter")
    page.get_by_role("button", name="Turn these keys on").press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == first


def test_a_list_is_narrowed_by_keyboard_and_back_returns_to_it(open_page, full):
    page = open_page("/documents?status=issued", full)
    before = page.url
    chip(page, "Currency").press("Enter")
    page.get_by_label("Currency", exact=True).first.select_option("JPY")
    with page.expect_navigation():
        page.get_by_role("button", name="Apply").locator("visible=true").press("Enter")
    expect(chip(page, "Currency: JPY")).to_be_visible()
    expect(page.locator(".list .record")).to_have_count(1)
    expect(page.locator(".tabs [aria-current]")).to_contain_text("Issued")
    narrowed = page.url
    follow(page.locator(".list .record"))
    page.go_back()
    assert page.url == narrowed
    expect(page.locator(".list .record")).to_have_count(1)
    page.go_back()
    assert page.url == before
    expect(page.locator(".list .record")).to_have_count(5)


def test_a_list_is_sorted_and_narrowed_without_scripts(open_page, full):
    page = open_page("/documents", full, java_script_enabled=False)
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()
    follow(page.get_by_role("link", name="Drafts 2"))
    follow(page.get_by_role("columnheader", name="Total").get_by_role("link"))
    expect(page.get_by_role("columnheader", name="Total")).to_have_attribute(
        "aria-sort", "descending"
    )
    chip(page, "Customer").click()
    page.get_by_label("Name of the customer").fill("acm")
    with page.expect_navigation():
        page.get_by_role("button", name="Find").click()
    follow(page.get_by_role("link", name="Acme Ltd").first)
    assert "status=draft" in page.url
    assert "sort=-total" in page.url
    expect(page.locator(".list .record")).to_have_count(2)


def test_what_waits_counts_down_in_its_row(open_page, full):
    page = open_page("/documents?status=waiting", full)
    timer = page.get_by_role("timer")
    expect(timer).to_have_count(1)
    expect(timer).to_contain_text(" min ")


def test_an_empty_list_leads_on(open_page, owner, company):
    grant(owner, *Permission)
    page = open_page("/documents", owner)
    expect(page.get_by_text("There are no invoices yet.")).to_be_visible()
    inspect(page, "list-empty-owner")
    follow(page.get_by_role("link", name="Write an invoice"))
    expect(page.get_by_role("heading", name="New draft")).to_be_visible()
    some = UserFactory.create(permissions=[Permission.VIEW_DOCUMENT, Permission.VIEW_CUSTOMER])
    for path in ("/documents", "/customers"):
        mine = open_page(path, some)
        expect(mine.get_by_text("account manager you are")).to_be_visible()
        inspect(mine, f"list-empty-some{path.replace('/', '-')}")
