"""The form of a draft as people fill it in: by keyboard alone, by pasting, on a phone."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from invoicing.fixed_point import SCALE
from invoicing.models import Document, TaxRate
from tests.browser.drafts import choose_customer, line, texts_of, type_line
from tests.browser.inspection import find_violations, fits, follow, inspect
from tests.factories import CustomerFactory, TaxRateFactory, line_input, make_draft

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]

DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}}
SHEET = (
    "Consulting\t1,5\th\t125.00\t\t19%\r\n"
    '"Material, ""fine""\nsecond line"\t12\tpcs\t4.50\t10 %\tVAT reduced\r\n'
    "Travel\t1\t\t89\t\tno such tax\r\n"
)


@pytest.fixture
def rates(tax_rate) -> tuple[TaxRate, TaxRate]:
    reduced = TaxRateFactory.create(name="VAT reduced", percentage_ten_thousandths=7 * SCALE)
    return tax_rate, reduced


@pytest.fixture
def page(open_page, delegate, customer, rates) -> Any:
    return open_page("/documents/new", delegate)


def focused(page: Page) -> str:
    name: str = page.evaluate("document.activeElement.name")
    return name


def paste(place: Locator, text: str) -> None:
    """Paste a text, as the browser does from the clipboard."""
    place.focus()
    place.evaluate(
        """(place, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            const how = { clipboardData, bubbles: true, cancelable: true };
            const event = new ClipboardEvent("paste", how);
            if (place.dispatchEvent(event)) document.execCommand("insertText", false, text);
        }""",
        text,
    )


def box_of(place: Locator) -> Any:
    """Return where it stands on the page."""
    return place.bounding_box()


def test_a_draft_is_written_by_keyboard_alone(page, rates):
    keyboard = page.keyboard
    page.get_by_role("combobox", name="Customer").focus()
    keyboard.type("acm")
    expect(page.get_by_role("option", name="Acme Ltd")).to_have_attribute("aria-selected", "true")
    keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Customer")).to_have_value("Acme Ltd, Amsterdam")
    line(page, 1).get_by_label("Description").focus()
    for text in ("Consulting", "1.5", "h", "10.50"):
        keyboard.type(text)
        keyboard.press("Tab")
    line(page, 1).get_by_label("Tax", exact=True).select_option(str(rates[0].id))
    keyboard.press("Enter")
    assert focused(page) == "line-1-description"
    for text in ("Postage", "1", "", "4,90"):
        keyboard.type(text)
        keyboard.press("Tab")
    expect(page.locator("#totals")).to_contain_text("€24.57")
    expect(line(page, 2).locator("[data-amount]")).to_have_text("4.90")
    keyboard.press("Enter")
    assert focused(page) == "line-2-description"
    keyboard.press("Tab")
    keyboard.press("Enter")
    assert len(texts_of(page)) == 3, "a blank line is followed by none"
    assert not Document.objects.exists()
    page.locator("[name=reference]").press("Enter")
    expect(page.get_by_role("main")).to_contain_text("Written by Dana Delegate")
    draft = Document.objects.get()
    assert (draft.grand_total, draft.lines.count()) == (2457, 2)


def test_lines_are_copied_moved_and_removed_by_keyboard(page):
    type_line(page, 1, description="A", quantity="1", unit_price="2")
    line(page, 1).get_by_label("Quantity").press("Control+d")
    assert (texts_of(page), focused(page)) == (["A", "A"], "line-1-quantity")
    type_line(page, 2, description="B")
    line(page, 2).get_by_label("Description").press("Alt+ArrowUp")
    assert (texts_of(page), focused(page)) == (["B", "A"], "line-0-description")
    page.keyboard.press("Alt+ArrowUp")
    assert texts_of(page) == ["B", "A"]
    page.keyboard.press("Alt+ArrowDown")
    assert (texts_of(page), focused(page)) == (["A", "B"], "line-1-description")
    page.keyboard.press("Control+Shift+Backspace")
    assert (texts_of(page), focused(page)) == (["A"], "line-0-description")
    expect(page.locator("#lines-told")).to_have_text("Line 2 was removed.")
    page.keyboard.press("Control+Shift+Backspace")
    assert (texts_of(page), texts_of(page, "quantity")) == ([""], [""])


def test_keys_of_the_browser_and_of_fields_stay_theirs(page):
    type_line(page, 1, description="Two words")
    field = line(page, 1).get_by_label("Description")
    field.press("End")
    field.press("Control+Backspace")
    expect(field).to_have_value("Two ")
    field.press("Enter")
    expect(field).to_have_value("Two \n")
    assert len(texts_of(page)) == 1
    tax = line(page, 1).get_by_label("Tax", exact=True)
    tax.press("Alt+ArrowDown")
    assert texts_of(page) == ["Two \n"]


def test_lines_are_copied_moved_and_removed_by_their_buttons(page):
    type_line(page, 1, description="A")
    page.get_by_role("button", name="Add a line").click()
    assert focused(page) == "line-1-description"
    type_line(page, 2, description="B")
    page.get_by_label("More for line 2").click()
    page.get_by_role("button", name="Move line 2 up").click()
    assert texts_of(page) == ["B", "A"]
    page.get_by_label("More for line 2").click()
    page.get_by_role("button", name="Copy line 2").click()
    assert texts_of(page) == ["B", "A", "A"]
    page.get_by_role("button", name="Remove line 1").click()
    assert texts_of(page) == ["A", "A"]
    names = [each.get_attribute("aria-label") for each in page.locator(".line").all()]
    assert names == ["Line 1", "Line 2"]
    inspect(page, "draft-lines")


def test_rows_of_a_spreadsheet_fill_lines(page, rates):
    choose_customer(page, "acme")
    paste(line(page, 1).get_by_label("Description"), SHEET)
    assert texts_of(page) == ["Consulting", 'Material, "fine"\nsecond line', "Travel"]
    assert texts_of(page, "quantity") == ["1,5", "12", "1"]
    assert texts_of(page, "unit_price") == ["125.00", "4.50", "89"]
    assert texts_of(page, "discount_value") == ["", "10", ""]
    assert texts_of(page, "tax_rate_id") == [str(rates[0].id), str(rates[1].id), ""]
    expect(page.locator("#lines-told")).to_have_text("Lines whose tax was not recognised: 3")
    expect(page.locator("#totals")).to_contain_text("€364.13")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("main")).to_contain_text("Written by Dana Delegate")
    lines = Document.objects.get().lines.order_by("position")
    assert [each.quantity for each in lines] == ["1.5", "12", "1"]


def test_pasting_begins_in_the_column_that_it_goes_into_and_keeps_the_lines_below(page):
    type_line(page, 1, description="A")
    line(page, 1).get_by_label("Description").press("Control+d")
    type_line(page, 2, description="B")
    paste(line(page, 1).get_by_label("Quantity"), "2\th\t3\n4\tpcs\t5\n")
    assert texts_of(page) == ["A", "", "B"]
    assert texts_of(page, "quantity") == ["2", "4", ""]
    assert texts_of(page, "unit") == ["h", "pcs", ""]


def test_the_column_of_the_discount_may_be_left_out(page, rates):
    page.on("dialog", lambda dialog: dialog.accept())
    paste(line(page, 1).get_by_label("Description"), "A\t1\th\t2\t19 %\nB\t1\th\t2\t7\n")
    assert texts_of(page, "tax_rate_id") == [str(rate.id) for rate in rates]
    page.reload()
    paste(line(page, 1).get_by_label("Description"), "A\t1\th\t2\t19 %\nB\t1\th\t2\t5%\n")
    assert texts_of(page, "discount_value") == ["19", "5"]


def test_a_text_of_several_lines_is_pasted_into_one_line(page):
    paste(line(page, 1).get_by_label("Description"), "One\ntwo")
    assert texts_of(page) == ["One\ntwo"]


def test_more_rows_than_a_draft_has_lines_are_told(page):
    paste(line(page, 1).get_by_label("Description"), "Row\t1\th\t2\n" * 103)
    assert len(texts_of(page)) == 100
    expect(page.locator("#lines-told")).to_have_text(
        "A draft has at most 100 lines. Rows that were left out: 3"
    )


def test_what_a_customer_has_agreed_is_filled_in_but_not_over_what_was_chosen(page):
    CustomerFactory.create(name="Zermatt AG", language="fr", currency_code="CHF", payment_days=10)
    page.get_by_label("Language").select_option("es")
    choose_customer(page, "zerm")
    expect(page.get_by_label("Currency")).to_have_value("CHF")
    expect(page.get_by_label("Language")).to_have_value("es")
    choose_customer(page, "acme")
    expect(page.get_by_label("Currency")).to_have_value("EUR")


def test_mistakes_are_told_quietly_once_their_field_is_left(page):
    price = line(page, 1).get_by_label("Unit price")
    type_line(page, 1, description="A", quantity="2", unit_price="1,234")
    page.wait_for_timeout(600)  # longer than the script waits
    expect(price).not_to_have_attribute("aria-invalid", "true")
    price.press("Tab")
    expect(price).to_have_attribute("aria-invalid", "true")
    expect(line(page, 1)).to_contain_text("This can be read in two ways.")
    told = "This can be read in two ways. Write 1234 if you mean that. Write at most 2 decimals."
    expect(price).to_have_accessible_description(told)
    inspect(page, "draft-mistake")
    price.fill("1234")
    expect(price).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator("#totals")).to_contain_text("€2,468.00")


@pytest.fixture
def box(page) -> Any:
    for number in range(12):
        CustomerFactory.create(name=f"Client {number:02d}", city="Bern")
    return page.get_by_role("combobox", name="Customer")


def test_the_customer_follows_the_arrows_and_escape(page, box):
    box.fill("client")
    options = page.locator("[role=option][data-id]")
    expect(options).to_have_count(10)
    expect(page.locator(".combobox [role=status]")).to_have_text(
        "More than 10 were found. Type more of the name."
    )
    expect(box).to_have_attribute("aria-expanded", "true")
    assert find_violations(page) == []
    box.press("ArrowDown")
    active = box.get_attribute("aria-activedescendant")
    expect(options.nth(1)).to_have_attribute("id", str(active))
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    box.press("ArrowUp")
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    box.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(box).to_have_value("client")
    box.press("Escape")
    expect(box).to_have_value("")
    inspect(page, "draft-combobox-closed")


def test_the_customer_lists_without_a_text_and_takes_what_is_clicked(page, box):
    box.press("ArrowDown")
    expect(page.get_by_role("option").first).to_contain_text("Acme Ltd")
    inspect(page, "draft-combobox")
    page.get_by_role("option", name="Client 03").click()
    expect(box).to_have_value("Client 03, Bern")
    expect(box).to_be_focused()


def test_the_customer_keeps_the_one_chosen_when_a_text_finds_none(page, box):
    choose_customer(page, "client 04")
    box.fill("nobody")
    expect(page.locator(".combobox [role=status]")).to_have_text("None was found.")
    box.press("Enter")
    box.press("Tab")
    expect(box).to_have_value("Client 04, Bern")
    box.fill("")
    box.press("Tab")
    expect(box).to_have_value("")
    assert page.locator("[name=customer_id]").input_value() == ""


def test_the_customer_is_where_a_mistake_leads(page, box):
    page.get_by_role("button", name="Save draft").click()
    page.get_by_role("alert").get_by_role("link", name="Customer").click()
    expect(box).to_be_focused()
    expect(box).to_have_accessible_description("This field is required.")


def test_eight_lines_fit_on_a_screen(open_page, delegate, customer, tax_rate):
    lines = (line_input(description="Service", tax_rate_id=tax_rate.id),) * 8
    draft = make_draft(user=delegate, customer=customer, lines=lines)
    page = open_page(f"/documents/{draft.id}/edit", delegate, **DESK)
    expect(page.locator("#totals")).to_contain_text("Net total")
    for number in range(1, 9):
        expect(line(page, number)).to_be_in_viewport(ratio=1)
    bar = box_of(page.locator(".bar"))
    last = box_of(line(page, 8))
    assert last["y"] + last["height"] <= bar["y"]


def test_on_a_phone_each_line_is_a_card(open_page, delegate, customer, tax_rate):
    page = open_page("/documents/new", delegate, has_touch=True, is_mobile=True, **PHONE)
    choose_customer(page, "acme")
    type_line(page, 1, description="A", quantity="2", unit_price="3")
    page.get_by_role("button", name="Add a line").tap()
    type_line(page, 2, description="B", quantity="1", unit_price="4")
    expect(page.locator("#totals")).to_contain_text("€10.00")
    description = box_of(line(page, 2).get_by_label("Description"))
    quantity = box_of(line(page, 2).get_by_label("Quantity"))
    assert quantity["y"] >= description["y"] + description["height"]
    assert description["width"] > 300
    assert fits(page)
    inspect(page, "draft-phone")
    page.get_by_role("button", name="Save draft").tap()
    expect(page.get_by_role("main")).to_contain_text("Written by Dana Delegate")
    assert Document.objects.get().grand_total == 1000


def test_without_scripts_the_form_does_the_same(open_page, delegate, customer, tax_rate):
    page = open_page("/documents/new", delegate, java_script_enabled=False)
    page.get_by_label("Customer", exact=True).select_option(label="Acme Ltd, Amsterdam")
    expect(page.get_by_role("combobox", name="Name")).to_have_count(0)
    type_line(page, 1, description="A", quantity="2", unit_price="3")
    follow(page.get_by_role("button", name="Add a line"))
    type_line(page, 2, description="B", quantity="1", unit_price="4")
    page.get_by_label("More for line 2").click()
    follow(page.get_by_role("button", name="Move line 2 up"))
    assert texts_of(page) == ["B", "A"]
    page.get_by_label("More for line 1").click()
    follow(page.get_by_role("button", name="Copy line 1"))
    follow(page.get_by_role("button", name="Remove line 3"))
    assert texts_of(page) == ["B", "B"]
    follow(page.get_by_role("button", name="Calculate"))
    expect(page.locator("#totals")).to_contain_text("€8.00")
    follow(page.get_by_role("button", name="Save draft"))
    assert Document.objects.get().grand_total == 800
