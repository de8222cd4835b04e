"""A customer is chosen from a list of a few, or found by a search among thousands."""

import re
from collections.abc import Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from invoicing.access import Permission
from invoicing.identifiers import new_id
from invoicing.models import Customer, Document
from invoicing.services.customers import create_customers
from invoicing.web.drafts.customers import LONGEST_LIST
from tests.factories import CustomerFactory, UserFactory, make_draft, make_staff
from tests.web.forms import read_form, text_of

# What a page makes of a search is the same; tests/invoicing/search asks both what is found.
pytestmark = pytest.mark.sqlite

NEW = "/documents/new"


@pytest.fixture
def many(db) -> Sequence[Customer]:
    names = [f"Client {number:03d} Ltd" for number in range(LONGEST_LIST + 10)]
    return create_customers([CustomerFactory.build(name=name) for name in names])


def options_of(answer) -> list[str]:
    """Return the labels of the customers to choose from."""
    select = re.search(r'<select name="customer_id".*?</select>', text_of(answer))
    assert select
    return re.findall(r"<option[^>]*>([^<]*)</option>", select[0])[1:]


def test_a_few_stand_in_a_list_with_their_places(writer_desk):
    CustomerFactory.create(name="beta")
    CustomerFactory.create(name="Alpha", city="")
    answer = writer_desk.get(NEW)
    assert options_of(answer) == ["Alpha", "beta, Amsterdam"]
    assert "customer_search" not in text_of(answer)


@pytest.mark.parametrize("missing", ["permission", "customers in reach", "active customers"])
def test_who_can_choose_no_customer_is_told_before_typing_a_draft(sign_in, customer, missing):
    held = {Permission.VIEW_DOCUMENT, Permission.VIEW_CUSTOMER, Permission.MANAGE}
    held -= {Permission.VIEW_CUSTOMER} if missing == "permission" else set()
    held |= {Permission.VIEW_ALL_CUSTOMERS} if missing != "customers in reach" else set()
    Customer.objects.update(is_active=missing != "active customers")
    desk = sign_in(UserFactory.create(permissions=held))
    told = "There is no active customer that you may see, so no draft can be saved."
    assert told in text_of(desk.get(NEW))
    assert options_of(desk.get(NEW)) == []


def test_who_may_not_look_at_customers_can_still_save_a_draft_of_one(sign_in, company, customer):
    CustomerFactory.create(name="Elsewhere")
    desk = sign_in(make_staff(Permission.VIEW_DOCUMENT, Permission.MANAGE))
    path = f"/documents/{make_draft(customer=customer).id}/edit"
    page = desk.get(path)
    assert options_of(page) == ["Acme Ltd, Amsterdam"]
    assert "There is no active customer" not in text_of(page)
    assert "Elsewhere" not in text_of(page)
    assert desk.post(path, {**read_form(page), "save": ""}).status_code == 302


def test_many_are_searched_for(writer_desk, many):
    answer = writer_desk.get(NEW)
    assert options_of(answer) == []
    assert "There are many customers: search for the name first." in text_of(answer)
    form = read_form(answer)
    found = writer_desk.post(NEW, {**form, "customer_search": "client 00", "find_customer": ""})
    assert options_of(found) == [f"Client 00{number} Ltd, Amsterdam" for number in range(10)]
    assert "10 were found." in text_of(found)
    assert read_form(found)["customer_id"] == ""
    assert not Document.objects.exists()


def test_who_may_not_look_at_customers_finds_none(company, sign_in, many):
    desk = sign_in(make_staff(Permission.VIEW_DOCUMENT, Permission.MANAGE))
    form = read_form(desk.get(NEW))
    found = desk.post(NEW, {**form, "customer_search": "client 00", "find_customer": ""})
    assert (found.status_code, options_of(found)) == (200, [])
    assert "Client 00" not in text_of(found)


@pytest.mark.parametrize(
    ("search", "hint", "count"),
    [
        ("nobody", "None was found.", 0),
        ("client 007", "One was found.", 1),
        ("client", "More than 50 were found. Type more of the name.", 50),
        ("!", "None was found.", 0),
        ("\0", "None was found.", 0),
        ("x" * 200, "None was found.", 0),
    ],
)
def test_a_search_says_what_it_found(writer_desk, many, search, hint, count):
    answer = writer_desk.post(NEW, {"customer_search": search, "find_customer": ""})
    assert len(options_of(answer)) == count
    assert hint in text_of(answer)


def test_the_only_one_found_is_chosen(writer_desk, many):
    answer = writer_desk.post(NEW, {"customer_search": "Client 007", "find_customer": ""})
    assert read_form(answer)["customer_id"] == str(many[7].id)


@pytest.mark.parametrize("button", ["save", "calculate"])
def test_enter_in_the_search_finds_and_saves_nothing(writer_desk, many, button):
    """Enter presses the first button of a form, whichever field it is typed in."""
    form = read_form(writer_desk.get(NEW)) | {"line-0-description": "Kept", "line-0-quantity": "x"}
    answer = writer_desk.post(NEW, {**form, "customer_search": "client 007", button: ""})
    assert answer.status_code == 200
    shown = read_form(answer)
    assert (shown["customer_id"], shown["line-0-description"]) == (str(many[7].id), "Kept")
    assert not Document.objects.exists()


def test_another_search_lets_go_of_the_customer_chosen_before(writer_desk, many):
    form = read_form(writer_desk.post(NEW, {"customer_search": "client 007", "find_customer": ""}))
    again = writer_desk.post(NEW, {**form, "customer_search": "client 01", "save": ""})
    assert read_form(again)["customer_id"] == ""
    assert "Client 007 Ltd, Amsterdam" in options_of(again)
    wider = writer_desk.post(NEW, {**form, "customer_search": "client 00", "add_line": ""})
    assert (read_form(wider)["customer_id"], read_form(wider)["line-TOTAL_FORMS"]) == (
        str(many[7].id),
        "2",
    )


def test_a_draft_is_saved_for_the_customer_that_was_found(writer_desk, many, tax_rate):
    form = read_form(writer_desk.post(NEW, {"customer_search": "client 007", "find_customer": ""}))
    line = {"line-0-description": "Work", "line-0-quantity": "1", "line-0-unit_price": "10"}
    dates = {"issue_date": "2026-03-02", "due_date": "2026-04-01"}
    form |= line | dates | {"currency_code": "EUR", "language": "en"}
    answer = writer_desk.post(NEW, {**form, "save": ""})
    draft = Document.objects.get()
    assert (answer["Location"], draft.customer) == (f"/documents/{draft.id}?done", many[7])


def test_the_customer_of_a_draft_stays_chosen_without_a_search(writer_desk, many):
    draft = make_draft(customer=many[30])
    path = f"/documents/{draft.id}/edit"
    page = writer_desk.get(path)
    assert options_of(page) == ["Client 030 Ltd, Amsterdam"]
    answer = writer_desk.post(path, {**read_form(page), "reference": "New", "save": ""})
    assert answer.status_code == 302
    assert (Document.objects.get().customer, Document.objects.get().reference) == (many[30], "New")


@pytest.mark.parametrize("kind", ["hidden", "inactive", "missing", "no ID"])
def test_a_customer_that_cannot_be_chosen_is_not_told(sign_in, stranger, many, kind):
    Customer.objects.filter(pk=many[0].pk).update(name="Secret")
    Customer.objects.filter(pk=many[1].pk).update(is_active=False)
    for each in many[1:]:
        each.account_managers.add(stranger)
    sent = {"hidden": many[0].pk, "inactive": many[1].pk, "missing": new_id(), "no ID": "x\0"}[kind]
    answer = sign_in(stranger).post(NEW, {"customer_id": str(sent), "save": ""})
    assert answer.status_code == 422
    assert options_of(answer) == []
    assert "Secret" not in text_of(answer)


def test_finding_takes_the_same_number_of_queries_however_many_there_are(writer_desk, many):
    writer_desk.get(NEW)
    counts = []
    for more in (0, 60):
        CustomerFactory.create_batch(more)
        with CaptureQueriesContext(connection) as queries:
            writer_desk.post(NEW, {"customer_search": "client 007", "find_customer": ""})
        counts.append(len(queries))
    assert counts[0] == counts[1]
