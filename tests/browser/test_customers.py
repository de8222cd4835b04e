"""Customers in a real browser: by keyboard alone, on a phone, and without scripts."""

import pytest
from playwright.sync_api import Dialog, Page, expect

from invoicing.access import Permission
from invoicing.models import Customer, User
from tests.administration import make_administrator
from tests.browser.inspection import SPILT, fits, follow, inspect
from tests.factories import CustomerFactory, UserFactory, make_draft, make_issued, make_staff

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

WIDTHS = (320, 390, 768, 1440)
LONG = "Nordwind Maschinenbau und Vertriebsgesellschaft für Sonderanfertigungen mbH & Co. KG"
RIGHTS = (
    Permission.VIEW_CUSTOMER,
    Permission.MANAGE_CUSTOMERS,
    Permission.VIEW_DOCUMENT,
    Permission.MANAGE,
    Permission.EXPORT,
)


@pytest.fixture
def editor(company) -> User:
    return make_staff(*RIGHTS, name="Edda Editor")


@pytest.fixture
def busy(editor) -> Customer:
    """A customer with all facts and documents, as long as they may be."""
    customer = CustomerFactory.create(
        name=LONG,
        street="W" * 200,
        vat_number="DE136695976",
        email=f"{'w' * 60}@nordwind.example",
        buyer_reference="W" * 60,
        language="de",
        payment_days=30,
        account_managers=[UserFactory.create(name="Milo")],
    )
    make_issued(customer=customer)
    make_issued(customer=customer, currency_code="JPY")
    make_draft(user=editor, customer=customer)
    return customer


def stays_in_place(page: Page) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert fits(page), width
        assert page.evaluate(SPILT) == [], width


def test_only_a_box_that_was_ticked_or_unticked_asks_before_it_is_left(open_page, busy):
    administrator = make_administrator("view_customer", "view_all_customers", "change_customer")
    page = open_page(f"/customers/{busy.id}/edit", administrator)
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    page.get_by_role("link", name="Customers", exact=True).first.click()
    expect(page.get_by_role("heading", name="Customers")).to_be_visible()
    assert asked == []
    page.goto(f"/customers/{busy.id}/edit")
    page.get_by_label("Always warn before a document is issued").click()
    page.get_by_role("link", name="Customers", exact=True).first.click()
    expect(page.get_by_role("heading", name="Customers")).to_be_visible()
    assert asked == ["beforeunload"]


def test_the_page_of_a_customer(open_page, editor, busy):
    page = open_page(f"/customers/{busy.id}", editor)
    expect(page.get_by_role("table", name="Issued by year")).to_be_visible()
    inspect(page, "customer")
    stays_in_place(page)


def test_the_form_of_a_customer(open_page, company, busy):
    for number in range(9):
        UserFactory.create(name=f"Person {number} {'w' * 80}")
    administrator = make_administrator("view_customer", "view_all_customers", "change_customer")
    page = open_page(f"/customers/{busy.id}/edit", administrator)
    expect(page.get_by_role("group", name="Account managers")).to_be_visible()
    inspect(page, "customer-form")
    stays_in_place(page)


def test_mistakes_are_marked(open_page, editor):
    page = open_page("/customers/new", editor)
    page.get_by_label("Electronic address", exact=True).fill("4000001000005")
    follow(page.get_by_role("button", name="Save customer"))
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved yet.")
    inspect(page, "customer-mistakes")
    stays_in_place(page)


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}])
def test_a_customer_is_added_and_changed_by_keyboard_alone(open_page, editor, options):
    CustomerFactory.create(name="NORDWIND")
    page = open_page("/customers", editor, **options)
    press(page, "New customer", role="link")
    page.get_by_label("Name").focus()
    page.keyboard.type("Nordwind")
    page.keyboard.press("Tab")
    page.keyboard.type("C-7")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("There may be this customer already")
    if not options:
        inspect(page, "customer-alike")
    press(page, "Save anyway")
    expect(page.get_by_role("status")).to_contain_text("The customer is saved.")
    press(page, "Edit", role="link")
    page.get_by_label("City").focus()
    page.keyboard.type("Hamburg")
    press(page, "Save customer")
    expect(page.get_by_text("Hamburg")).to_be_visible()
    press(page, "Edit", role="link")
    press(page, "Deactivate")
    expect(page.get_by_text("Inactive")).to_be_visible()
    customer = Customer.objects.get(customer_number="C-7")
    assert (customer.city, customer.is_active) == ("Hamburg", False)


def press(page: Page, name: str, *, role: str = "button") -> None:
    """Press a button or link as the keyboard does."""
    target = page.get_by_role("link" if role == "link" else "button", name=name, exact=True)
    target.focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_two_editors_do_not_overwrite_each_other(open_page, editor):
    customer = CustomerFactory.create(name="Nordwind")
    pages = [open_page(f"/customers/{customer.id}/edit", editor) for _ in range(2)]
    for page, city in zip(pages, ("Hamburg", "Kiel"), strict=True):
        page.get_by_label("City").fill(city)
        follow(page.get_by_role("button", name="Save customer"))
    page = pages[1]
    expect(page.get_by_role("heading", name="Somebody changed this customer")).to_be_visible()
    expect(page.get_by_label("City")).to_have_value("Kiel")
    inspect(page, "customer-conflict")
    page.get_by_label("City").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Somebody changed this customer")).to_be_visible()
    follow(page.get_by_role("button", name="Replace it with mine"))
    expect(page.get_by_text("Kiel")).to_be_visible()
