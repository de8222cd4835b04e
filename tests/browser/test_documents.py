"""People at their documents, in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import Dialog, expect

from invoicing.fixed_point import SCALE
from invoicing.models import Document, DocumentType, User, WorkingHours
from invoicing.money import MAX_AMOUNT
from invoicing.services.drafts import update_draft
from invoicing.totals import DiscountType
from invoicing.web.drafts.customers import LONGEST_LIST
from tests.browser.inspection import follow, inspect
from tests.factories import (
    PASSWORD,
    CustomerFactory,
    TaxRateFactory,
    TeamFactory,
    UserFactory,
    draft_input,
    give_password,
    line_input,
    make_connection_ref,
    make_draft,
    make_issued,
)

# A page looks and acts the same on both databases; tests/web/ asks both.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sqlite]


@pytest.fixture
def lines(tax_rate) -> tuple[Any, ...]:
    reduced = TaxRateFactory.create(name="VAT reduced", percentage_ten_thousandths=7 * SCALE)
    return (
        line_input(
            description="Consulting, on site in Amsterdam",
            quantity=155 * SCALE // 10,
            unit="h",
            unit_price=12_000,
            discount_type=DiscountType.PERCENT,
            discount_value=1000,
            tax_rate_id=tax_rate.id,
        ),
        line_input(
            description="Hardware kit “North”, assembled and tested\nSerial number 77-1203",
            quantity=3 * SCALE,
            unit="pcs",
            unit_price=49_900,
            tax_rate_id=reduced.id,
        ),
        line_input(description="Postage", quantity=SCALE, unit_price=1290),
    )


@pytest.fixture
def draft(delegate, customer, lines) -> Document:
    maker = make_connection_ref("Ledger agent")
    return make_draft(
        user=delegate, customer=customer, lines=lines, language="de", connection=maker
    )


@pytest.fixture
def issued(delegate, customer, lines) -> Document:
    return make_issued(
        user=delegate, customer=customer, lines=lines, reference="PO 4711", notes="Thank you."
    )


def fill(page: Any, **texts: str) -> None:
    for name, text in texts.items():
        page.locator(f"[name={name.replace('line_0_', 'line-0-')}]").fill(text)


def test_a_person_signs_in_and_out(open_page, delegate):
    give_password(delegate)
    page = open_page("/customers")
    inspect(page, "sign-in")
    page.get_by_label("Work e-mail").fill(delegate.email)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be used to sign in")
    inspect(page, "sign-in-refused")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Customers")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_person_writes_a_draft_without_scripts(open_page, delegate, customer, tax_rate):
    page = open_page("/documents", delegate, java_script_enabled=False)
    page.get_by_role("link", name="New draft").click()
    page.get_by_label("Customer", exact=True).select_option(label="Acme Ltd, Amsterdam")
    fill(page, line_0_description="Consulting", line_0_quantity="1.5", line_0_unit_price="10.50")
    page.get_by_label("Tax", exact=True).select_option(label="VAT standard (19 %)")
    page.get_by_role("button", name="Add a line").click()
    second = page.locator("#line-2")
    second.get_by_label("Description").fill("Postage")
    second.get_by_label("Quantity").fill("1")
    second.get_by_label("Unit price").fill("4,90")
    expect(second.get_by_label("Tax", exact=True)).to_have_value(str(tax_rate.id))
    second.get_by_label("Tax", exact=True).select_option(label="No tax")
    page.get_by_role("button", name="Calculate").click()
    expect(page.get_by_role("main")).to_contain_text("€23.64")
    assert not Document.objects.exists()
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("main")).to_contain_text("Written by Dana Delegate")
    assert Document.objects.get().grand_total == 2364


def test_a_customer_among_many_is_found_with_the_enter_key(open_page, delegate):
    CustomerFactory.create_batch(LONGEST_LIST)
    CustomerFactory.create(name="Zaragoza Cerámica S.L.", city="Zaragoza")
    page = open_page("/documents/new", delegate, java_script_enabled=False)
    page.get_by_label("Find the customer").fill("zara")
    page.get_by_label("Find the customer").press("Enter")
    expect(page.get_by_text("One was found.")).to_be_visible()
    chosen = page.get_by_label("Customer", exact=True)
    expect(chosen.locator("option:checked")).to_have_text("Zaragoza Cerámica S.L., Zaragoza")


def test_a_text_that_deceives_is_seen_through(open_page, delegate, customer):
    hidden = "Pay to \u202e1000 DE\u202c\u200b now"
    maker = make_connection_ref(hidden)
    document = make_draft(
        user=delegate,
        customer=customer,
        lines=(line_input(description=f"{hidden}\nשבת 12 דרך", unit="שע"),),
        notes=f"{hidden}\nThank you.",
        reference=hidden,
        connection=maker,
    )
    page = open_page(f"/documents/{document.id}", delegate)
    expect(page.get_by_text("U+202E").first).to_be_visible()
    inspect(page, "document-deceptive")


def test_the_enter_key_saves_and_removes_no_line(open_page, delegate, draft):
    page = open_page(f"/documents/{draft.id}/edit", delegate)
    page.get_by_label("Reference (optional)", exact=True).fill("By keyboard")
    page.get_by_label("Reference (optional)", exact=True).press("Enter")
    expect(page.get_by_role("heading", name=draft.draft_code, exact=True)).to_be_visible()
    saved = Document.objects.get()
    assert (saved.reference, saved.lines.count()) == ("By keyboard", 3)


def test_a_stale_edit_loses_nothing(open_page, delegate, customer, draft):
    page = open_page(f"/documents/{draft.id}/edit", delegate)
    page.get_by_label("Notes on the invoice").fill("Mine")
    update_draft(delegate, draft.pk, draft_input(customer, reference="Theirs"), lock_version=1)
    page.get_by_role("button", name="Save draft").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Somebody changed this draft")
    page.get_by_label("Reference (optional)", exact=True).press("Enter")
    expect(alert).to_contain_text("Somebody changed this draft")
    assert Document.objects.get().reference == "Theirs"
    expect(alert.get_by_role("row", name="Reference")).to_contain_text("Theirs")
    inspect(page, "draft-stale")
    page.get_by_role("button", name="Replace it with mine").click()
    expect(page.get_by_role("main")).to_contain_text("Mine")
    assert Document.objects.get().lock_version == 3


def test_what_was_typed_is_not_left_without_a_question(open_page, delegate, draft):
    page = open_page(f"/documents/{draft.id}/edit", delegate)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_role("link", name="Customers").click()
    expect(page.get_by_role("heading", name="Customers")).to_be_visible()
    assert asked == [], "nothing was typed"
    page.goto(f"/documents/{draft.id}/edit")
    page.get_by_label("Reference (optional)", exact=True).fill("Typed")
    page.get_by_role("link", name="Cancel").click(modifiers=["Control"])  # in a tab of its own
    page.get_by_role("link", name="Customers").click()
    page.get_by_role("button", name="Add a line").click()
    expect(page.locator("#line-4")).to_be_visible()
    page.get_by_role("link", name="Customers").click()
    expect(page.get_by_label("Reference (optional)", exact=True)).to_have_value("Typed")
    assert asked == ["beforeunload"] * 2
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", name=draft.draft_code, exact=True)).to_be_visible()
    assert asked == ["beforeunload"] * 2


def test_going_back_to_an_edit_shows_the_draft_as_it_is_now(open_page, delegate, customer, draft):
    page = open_page(f"/documents/{draft.id}/edit", delegate)
    page.goto("/customers")
    changed = draft_input(customer, currency_code="USD", language="fr")
    update_draft(delegate, draft.pk, changed, lock_version=1)
    page.go_back()
    expect(page.get_by_label("Currency")).to_have_value("USD")
    expect(page.get_by_label("Language")).to_have_value("fr")


def test_a_person_issues_by_hand(open_page, delegate, draft):
    page = open_page(f"/documents/{draft.id}", delegate)
    follow(page.get_by_role("link", name="Issue by hand"))
    inspect(page, "issue")
    page.get_by_role("button", name="Issue now").click()
    expect(page.get_by_role("heading", name="INV-2026-0001")).to_be_visible()
    page.go_back()
    page.reload()
    assert Document.objects.get().number == "INV-2026-0001"


def test_removing_the_last_of_many_lines_stays_among_them(open_page, delegate, customer):
    lines = tuple(line_input(description=f"Service {number}") for number in range(30))
    draft = make_draft(user=delegate, customer=customer, lines=lines)
    page = open_page(f"/documents/{draft.id}/edit", delegate, java_script_enabled=False)
    follow(page.get_by_role("button", name="Remove line 30"))
    expect(page.locator("#line-29")).to_be_in_viewport()


@pytest.fixture
def paths(delegate: User, draft: Document, issued: Document) -> dict[str, str]:
    make_draft(user=delegate, customer=draft.customer, document_type=DocumentType.CREDIT_NOTE)
    gone = CustomerFactory.create(name="Old Mill", is_active=False)
    manager = UserFactory.create(name="Milo Manager", job_title="Account manager")
    TeamFactory.create(name="Finance", members=[delegate, manager])
    WorkingHours.objects.create(person=manager, weekday=0, start_time="08:00", end_time="12:00")
    return {
        "documents": "/documents",
        "documents-none": "/documents?search=nobody",
        "document-draft": f"/documents/{draft.id}",
        "document-issued": f"/documents/{issued.id}",
        "draft-new": "/documents/new",
        "draft-edit": f"/documents/{draft.id}/edit",
        "customers": "/customers",
        "customer": f"/customers/{gone.id}",
        "people": "/people",
        "person": f"/people/{manager.id}",
        "missing": "/nothing",
    }


@pytest.mark.prove
def test_every_page_is_accessible_and_fits(open_page, delegate, paths):
    page = open_page("/", delegate)
    for name, path in paths.items():
        page.goto(path)
        inspect(page, name)


def test_a_refused_form_is_accessible_and_fits(open_page, delegate, company):
    page = open_page("/documents/new", delegate)
    page.get_by_text("Supply, delivery and exchange rate").press("Enter")
    page.get_by_label("Until, if it is a period").fill("2026-03-31")
    fill(page, line_0_unit_price="1,234")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved yet.")
    inspect(page, "draft-refused")


def test_a_page_that_one_may_not_see_says_so(open_page, company):
    page = open_page("/documents", UserFactory.create(name="Noor"))
    expect(page.get_by_role("heading", name="You may not see this page")).to_be_visible()
    inspect(page, "forbidden")


def test_the_longest_words_and_the_largest_amounts_fit(open_page, delegate, tax_rate):
    customer = CustomerFactory.create(name="W" * 200, street="S" * 200)
    line = line_input(
        description="D" * 1000,
        quantity=SCALE,
        unit="U" * 20,
        unit_price=MAX_AMOUNT // 2,
        discount_type=DiscountType.AMOUNT,
        discount_value=MAX_AMOUNT // 4,
        tax_rate_id=tax_rate.id,
    )
    draft = make_draft(
        user=delegate,
        customer=customer,
        lines=(line,),
        currency_code="BHD",
        connection=make_connection_ref("A" * 100),
        notes="N" * 5000,
        reference="R" * 100,
    )
    page = open_page("/", delegate)
    paths = [f"/documents/{draft.id}", "/documents", f"/documents/{draft.id}/edit", "/customers"]
    for path in (*paths, f"/customers/{customer.id}"):
        page.goto(path)
        inspect(page, f"longest-{len(path)}")
