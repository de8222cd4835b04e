"""Customers made, changed and put away on their own pages, by those who may."""

import re
from datetime import date
from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.utils import flatten
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from invoicing.access import Permission
from invoicing.admin.customers import CustomerAdmin
from invoicing.models import Customer, User
from invoicing.services import issued_totals
from invoicing.services.issuing import issue_document
from invoicing.web.customer_forms import PARTS, Form
from tests.administration import acts_written, make_administrator
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    UserFactory,
    line_input,
    make_correction,
    make_draft,
    make_issued,
    make_staff,
    withdraw,
)
from tests.plans import gather_statistics, plans_of, prefer_indexes
from tests.web.forms import main_of, read_form

EDITS = (Permission.VIEW_CUSTOMER, Permission.MANAGE_CUSTOMERS)
REPLACES = re.compile(r'name="replace"\s+value="(\w{64})"')
SEEN = re.compile(r'name="seen"\s+value="(\w{64})"')
FACTS = {
    "name": "Nordwind GmbH",
    "customer_number": "C-7",
    "street": "Hafenstraße 1",
    "address_line": "Building 7",
    "postcode": "20457",
    "city": "Hamburg",
    "region": "Hamburg",
    "country": "DE",
    "vat_number": "DE136695976",
    "tax_number": "143/123/45678",
    "email": "post@nordwind.example",
    "electronic_address_scheme": "0204",
    "electronic_address": "04011000-1234512345-06",
    "buyer_reference": "PO 7",
    "language": "de",
    "currency_code": "USD",
    "payment_days": "14",
    "e_invoice": "xrechnung",
}


@pytest.fixture
def editor(company) -> User:
    return make_staff(*EDITS, name="Edda Editor")


@pytest.fixture
def desk(sign_in, editor) -> Any:
    return sign_in(editor)


def make_manager(name: str) -> User:
    """Return somebody who may edit customers, and sees those alone whose manager they are."""
    person: User = UserFactory.create(name=name, permissions=EDITS)
    return person


def add(browser: Any, **typed: Any) -> Any:
    return browser.post("/customers/new", read_form(browser.get("/customers/new")) | typed)


def change(browser: Any, customer: Customer, **typed: Any) -> Any:
    path = f"/customers/{customer.id}/edit"
    return browser.post(path, read_form(browser.get(path)) | typed)


def facts_of(customer: Customer) -> dict[str, str]:
    customer.refresh_from_db()
    return {name: str(getattr(customer, name)) for name in FACTS}


def test_a_customer_is_added_with_every_fact_of_the_paper(desk, editor):
    answer = add(desk, **FACTS)
    customer = Customer.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/customers/{customer.id}?done")
    assert facts_of(customer) == FACTS
    assert acts_written() == [("customer:created", str(customer.id), "")]
    assert "The customer is saved." in main_of(desk.get(answer["Location"]))
    assert "Nordwind" in main_of(desk.get("/customers?search=nordwind"))


def test_every_fact_is_changed_and_the_audit_names_the_fields(desk, customer):
    assert change(desk, customer, **FACTS).status_code == 302
    assert facts_of(customer) == FACTS
    [(act, target, changed)] = acts_written()
    assert (act, target) == ("customer:changed", str(customer.id))
    # As much of the names as fits.
    assert set(changed.split(", ")[:-1]) < set(FACTS)
    assert read_form(desk.get(f"/customers/{customer.id}/edit")).items() >= FACTS.items()


def test_saving_without_a_change_writes_nothing(desk, customer):
    assert change(desk, customer).status_code == 302
    assert acts_written() == []


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({"name": ""}, "This field is required."),
        ({"email": "post"}, "Enter a valid email address."),
        ({"electronic_address": "4000001000005"}, "Choose what this electronic address is."),
        ({"payment_days": "367"}, "Ensure this value is less than or equal to 366."),
        ({"country": "ZZ"}, "Select a valid choice."),
        ({"city": "a\x07b"}, "Leave out control characters."),
        ({"city": "x" * 101}, "Ensure this value has at most 100 characters"),
    ],
)
def test_a_mistake_is_told_beside_its_field_and_what_was_typed_stays(desk, typed, problem):
    answer = add(desk, **{"name": "Nordwind", "street": "Hafenstraße 1"} | typed)
    assert answer.status_code == 422
    page = main_of(answer)
    assert page.count(problem) == 1
    assert "<strong>Nothing was saved yet.</strong>" in page
    assert answer.content.decode().count("<title>Please correct: ") == 1
    form = read_form(answer)
    assert form["street"] == "Hafenstraße 1"
    [(name, text)] = typed.items()
    assert form[name] == text or name in {"country", "city"}
    assert not Customer.objects.exists()
    assert acts_written() == []


def test_of_two_who_write_at_once_the_second_sees_what_the_first_saved(desk, sign_in, customer):
    path = f"/customers/{customer.id}/edit"
    opened = read_form(desk.get(path))
    other = sign_in(make_staff(*EDITS, name="Otto Other"))
    assert change(other, customer, city="Utrecht", country="DE").status_code == 302

    answer = desk.post(path, opened | {"city": "Delft", "postcode": "2611"})
    assert answer.status_code == 409
    page = main_of(answer)
    assert "Somebody changed this customer while you were writing" in page
    for label, saved, typed in (
        ("City", "Utrecht", "Delft"),
        ("Country", "Germany", "Netherlands"),
    ):
        row = page[page.index(f'<th scope="row">{label}</th>') :].partition("</tr>")[0]
        assert row.index(saved) < row.index(typed)
    assert facts_of(customer)["city"] == "Utrecht"
    kept = read_form(answer)
    assert (kept["city"], kept["postcode"]) == ("Delft", "2611")

    # Enter, and every other way than the button, still replaces nothing.
    again = desk.post(path, kept)
    assert again.status_code == 409
    [current] = REPLACES.findall(again.content.decode())
    assert desk.post(path, kept | {"replace": current}).status_code == 302
    assert facts_of(customer)["city"] == "Delft"


def test_a_button_to_replace_replaces_only_what_it_stood_beside(desk, customer):
    path = f"/customers/{customer.id}/edit"
    opened = read_form(desk.get(path))
    Customer.objects.update(city="Utrecht")
    answer = desk.post(path, opened | {"city": "Delft"})
    [current] = REPLACES.findall(answer.content.decode())
    Customer.objects.update(city="Leiden")
    assert desk.post(path, opened | {"city": "Delft", "replace": current}).status_code == 409
    assert facts_of(customer)["city"] == "Leiden"


@pytest.mark.parametrize(
    ("typed", "is_told"),
    [
        ({"name": "ACME ltd"}, True),
        ({"name": "Other", "vat_number": "nl 004495445.B01"}, True),
        ({"name": "Acme Limited"}, False),
        ({"name": "Other", "vat_number": ""}, False),
    ],
)
def test_a_likely_duplicate_is_told_once_and_not_forbidden(desk, customer, typed, is_told):
    answer = add(desk, **typed)
    if not is_told:
        assert answer.status_code == 302
        return
    page = main_of(answer)
    assert answer.status_code == 200
    assert "There may be this customer already" in page
    assert f'href="/customers/{customer.id}"' in page
    assert Customer.objects.count() == 1
    assert desk.post("/customers/new", read_form(answer)).status_code == 302
    assert Customer.objects.count() == 2


def test_a_customer_is_no_duplicate_of_itself_nor_told_of_again(desk, customer):
    CustomerFactory.create(name=customer.name)
    assert change(desk, customer, city="Utrecht").status_code == 302
    assert change(desk, customer, name="acme LTD").status_code == 200


def test_nobody_is_told_of_a_duplicate_that_they_do_not_see(sign_in, customer):
    CustomerFactory.create(name="Seen", vat_number="")
    assert add(sign_in(make_manager("Mona")), name=customer.name).status_code == 302
    people = Customer.objects.exclude(pk=customer.pk).filter(name=customer.name)
    assert people.count() == 1


@pytest.mark.postgresql  # whose statistics choose among indexes
def test_duplicates_are_found_by_indexes(desk, editor, customer):
    Customer.objects.bulk_create(
        Customer(name=f"Customer {number}", vat_number=f"NL {number:09} B01")
        for number in range(500)
    )
    gather_statistics()
    prefer_indexes()
    plans = plans_of(
        lambda: add(desk, name="New one", vat_number="DE 136695976"), where="invoices_customer"
    )
    assert "customer_by_vat_number" in plans
    assert "customer_by_name" in plans


def test_who_sees_only_their_own_becomes_the_manager_of_whom_they_add(sign_in, company):
    milo = make_manager("Milo")
    assert add(sign_in(milo), name="Nordwind").status_code == 302
    assert [*Customer.objects.get().account_managers.all()] == [milo]


def test_who_sees_all_manages_nobody_by_adding(desk):
    add(desk, name="Nordwind")
    assert not Customer.objects.get().account_managers.exists()


def test_two_account_managers_each_change_their_own_only(sign_in, company):
    people = {make_manager(name): name for name in ("Milo", "Mona")}
    own = {
        person: CustomerFactory.create(name=f"Of {name}", account_managers=[person])
        for person, name in people.items()
    }
    for person in people:
        browser = sign_in(person)
        [other] = [each for each in people if each != person]
        hidden = f"/customers/{own[other].id}"
        missing = browser.get(f"/customers/{UUID(int=7)}/edit")
        for answer in (
            browser.get(f"{hidden}/edit"),
            browser.post(f"{hidden}/edit", {"name": "Taken"}),
            browser.post(f"{hidden}/edit", {"deactivate": ""}),
        ):
            assert answer.status_code == 404
            assert main_of(answer) == main_of(missing)
        assert change(browser, own[person], city="Utrecht").status_code == 302
    assert {each.city for each in Customer.objects.all()} == {"Utrecht"}
    assert {each.name for each in Customer.objects.all()} == {"Of Milo", "Of Mona"}


@pytest.mark.parametrize("kept", [(Permission.VIEW_CUSTOMER,), (Permission.MANAGE_CUSTOMERS,)])
def test_without_both_rights_nothing_is_added_or_changed(sign_in, company, customer, kept):
    browser = sign_in(make_staff(*kept))
    page = f"/customers/{customer.id}"
    for answer in (
        browser.get("/customers/new"),
        browser.post("/customers/new", {"name": "Nordwind"}),
        browser.get(f"{page}/edit"),
        browser.post(f"{page}/edit", {"name": "Nordwind"}),
        browser.post(f"{page}/edit", {"deactivate": ""}),
    ):
        assert answer.status_code == 403
    assert [each.name for each in Customer.objects.filter(is_active=True)] == [customer.name]
    if Permission.VIEW_CUSTOMER in kept:
        assert "/edit" not in main_of(browser.get(page))
        assert "/customers/new" not in main_of(browser.get("/customers"))


@pytest.mark.parametrize("codename", ["change_customer", "manage_customers"])
def test_who_may_in_the_administration_may_on_the_pages(sign_in, company, customer, codename):
    person = make_administrator("view_customer", "view_all_customers", codename)
    manager = UserFactory.create(name="Milo")
    browser = sign_in(person)
    fields = {"account_managers": [str(manager.pk)], "is_watched": "on"}
    assert change(browser, customer, **fields).status_code == 302
    customer.refresh_from_db()
    assert [*customer.account_managers.all()] == [manager]
    assert customer.is_watched
    [(_, _, changed)] = acts_written()
    assert sorted(changed.split(", ")) == ["account_managers", "is_watched"]


def test_who_is_no_administrator_changes_neither_who_sees_it_nor_the_warning(desk, customer):
    manager = UserFactory.create(name="Milo")
    customer.account_managers.add(manager)
    Customer.objects.update(is_watched=True)
    form = read_form(desk.get(f"/customers/{customer.id}/edit"))
    assert not {"account_managers", "is_watched"} & form.keys()
    assert change(desk, customer, account_managers="", city="Delft").status_code == 302
    customer.refresh_from_db()
    assert [*customer.account_managers.all()] == [manager]
    assert customer.is_watched


def test_a_right_that_is_lost_while_writing_saves_nothing(desk, editor, customer):
    form = read_form(desk.get(f"/customers/{customer.id}/edit"))
    withdraw(editor, Permission.MANAGE_CUSTOMERS)
    assert desk.post(f"/customers/{customer.id}/edit", form | {"city": "Delft"}).status_code == 403
    assert facts_of(customer)["city"] == "Amsterdam"


def test_a_customer_is_put_away_and_taken_back(desk, customer):
    path = f"/customers/{customer.id}"
    for button, is_active in (("deactivate", False), ("activate", True)):
        page = desk.get(f"{path}/edit").content.decode()
        assert f'name="{button}"' in page
        [seen] = SEEN.findall(page.split("</form>")[-2])
        answer = desk.post(f"{path}/edit", {"seen": seen, button: ""})
        assert answer["Location"] == f"{path}?done"
        customer.refresh_from_db()
        assert customer.is_active is is_active
    assert [changed for _, _, changed in acts_written()] == ["is_active"] * 2


def test_a_customer_that_changed_meanwhile_is_not_put_away(desk, customer):
    answer = desk.post(f"/customers/{customer.id}/edit", {"seen": "0" * 64, "deactivate": ""})
    assert answer.status_code == 409
    assert "somebody else changed this customer" in main_of(answer)
    customer.refresh_from_db()
    assert customer.is_active


def test_a_late_press_puts_nobody_away_and_fills_in_what_is_saved(desk, customer):
    answer = desk.post(f"/customers/{customer.id}/edit", {"deactivate": "", "resume": ""})
    assert read_form(answer)["name"] == customer.name
    customer.refresh_from_db()
    assert customer.is_active


def test_a_name_is_filled_in_from_the_address(desk):
    assert read_form(desk.get("/customers/new?name=Nord%20%22wind"))["name"] == 'Nord "wind'
    assert len(read_form(desk.get("/customers/new?name=" + "a" * 999))["name"]) == 200


def test_after_a_customer_for_a_draft_comes_that_draft(sign_in, company):
    writes = (Permission.VIEW_DOCUMENT, Permission.MANAGE)
    browser = sign_in(make_staff(*EDITS, *writes))
    form = read_form(browser.get("/customers/new?name=Nordwind&for=draft"))
    answer = browser.post("/customers/new", form)
    assert answer["Location"] == f"/documents/new?customer={Customer.objects.get().id}"


def test_who_writes_no_drafts_is_led_to_the_customer(desk):
    form = read_form(desk.get("/customers/new?name=Nordwind&for=draft"))
    answer = desk.post("/customers/new", form)
    assert answer["Location"] == f"/customers/{Customer.objects.get().id}?done"


def test_what_was_typed_comes_back_upon_what_was_seen(desk, customer):
    path = f"/customers/{customer.id}/edit"
    form = read_form(desk.get(path)) | {"city": "Delft"}
    Customer.objects.update(city="Utrecht")
    back = read_form(desk.post(path, form | {"resume": ""}))
    assert back["city"] == "Delft"
    assert desk.post(path, back).status_code == 409
    assert facts_of(customer)["city"] == "Utrecht"


def test_a_customer_shows_newest_documents_and_the_list_of_all(sign_in, delegate, customer):
    made = [make_draft(user=delegate, customer=customer) for _ in range(6)]
    page = main_of(sign_in(delegate).get(f"/customers/{customer.id}"))
    shown = [each.draft_code for each in made if each.draft_code in page]
    assert shown == [each.draft_code for each in made[1:]]
    assert f'href="/documents?customer={customer.id}"' in page


def years_of(page: str) -> list[list[str]]:
    table = page[page.index('<table class="years">') :].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2])
    return [re.findall(r"<t[hd][^>]*> ?(.*?) ?</t[hd]>", row) for row in rows]


def test_what_was_issued_is_added_up_by_year_and_currency(sign_in, delegate, customer):
    first = make_issued(customer=customer)
    make_issued(customer=customer, issue_date=date(2025, 12, 31))
    make_issued(customer=customer, currency_code="JPY", lines=(line_input(unit_price=700),))
    make_issued(customer=CustomerFactory.create())
    make_draft(user=delegate, customer=customer)
    issue_document(make_correction(first), clock=at(ISSUED_AT))
    page = main_of(sign_in(delegate).get(f"/customers/{customer.id}"))
    assert years_of(page) == [
        ["2026", "1 invoice, 1 credit note", "€0.00"],
        ["2026", "1 invoice", "¥1,400"],
        ["2025", "1 invoice", "€100.00"],
    ]


def test_of_too_many_documents_no_totals_are_told(sign_in, delegate, customer, monkeypatch):
    monkeypatch.setattr(issued_totals, "MOST_ADDED_UP", 0)
    make_issued(customer=customer)
    page = main_of(sign_in(delegate).get(f"/customers/{customer.id}"))
    assert "too much to add up here" in page
    assert '<table class="years">' not in page


def test_without_the_right_to_see_documents_none_is_told_of(desk, customer):
    issued = make_issued(customer=customer)
    page = main_of(desk.get(f"/customers/{customer.id}"))
    assert str(issued.number) not in page
    assert "Issued by year" not in page
    assert "Documents" not in page


def test_a_customer_without_documents_leads_to_the_first(sign_in, delegate, customer):
    page = main_of(sign_in(delegate).get(f"/customers/{customer.id}"))
    assert f'href="/documents/new?customer={customer.id}"' in page
    assert "No document has been written for this customer yet." in page


def test_the_page_costs_as_many_queries_however_many_documents(sign_in, delegate, customer):
    browser = sign_in(delegate)

    def count() -> int:
        with CaptureQueriesContext(database) as queries:
            assert browser.get(f"/customers/{customer.id}").status_code == 200
        return len(queries)

    make_issued(customer=customer)
    few = count()
    for _ in range(8):
        make_issued(customer=customer)
    assert count() == few


def test_the_pages_have_every_field_that_the_administration_has():
    placed = [name for _, _, names in PARTS for name, _ in names]
    assert sorted([*placed, "seen"]) == sorted(Form.base_fields)
    assert {*placed, "is_active"} == {
        each for _, part in CustomerAdmin.fieldsets for each in flatten(part["fields"])
    }
