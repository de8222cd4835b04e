"""The customers that are suggested while somebody types a name: within reach, and few."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from invoicing.access import Permission
from invoicing.web.drafts import suggestions
from tests.factories import CustomerFactory, UserFactory, make_staff
from tests.web.disguises import EVIL, HIDDEN
from tests.web.forms import ISOLATION

pytestmark = pytest.mark.sqlite  # tests/invoicing/search asks both what is found

WRITER = (Permission.VIEW_DOCUMENT, Permission.VIEW_CUSTOMER, Permission.MANAGE)
OPTION = re.compile(r'<li role="option"[^>]*>(.*?)</li>')


def find(desk, search: str) -> tuple[list[str], str]:
    """Return what is offered, as people read it, and the words for what was found."""
    answer = desk.get("/customers/find", {"search": search})
    assert answer.status_code == 200
    found = answer.json()
    html = " ".join(ISOLATION.sub(r"\1", found["options"]).split())
    options = [re.sub(r"<[^>]+>", " ", each) for each in OPTION.findall(html)]
    return [" ".join(each.split()) for each in options], found["hint"]


def find_known(desk, search: str) -> tuple[list[str], str]:
    """Return what is offered before a new customer, if that is."""
    shown, hint = find(desk, search)
    return [text for text in shown if not text.startswith("+ New customer")], hint


def test_each_is_told_apart_by_place_and_number(writer_desk):
    place = {"postcode": "91781", "city": "Weißenburg"}
    CustomerFactory.create(name="Altmühl GmbH", customer_number="K-1004", **place)
    CustomerFactory.create(name="Altmark AG", customer_number="", postcode="39576", city="Stendal")
    CustomerFactory.create(name="Nordwind")
    shown, hint = find_known(writer_desk, "altm")
    assert shown == ["Altmark AG 39576 Stendal", "Altmühl GmbH 91781 Weißenburg · K-1004"]
    assert hint == "2 were found."


def test_ten_are_the_most(writer_desk):
    for number in range(12):
        CustomerFactory.create(name=f"Client {number:02d}", city="")
    shown, hint = find_known(writer_desk, "client")
    assert (len(shown), hint) == (10, "More than 10 were found. Type more of the name.")
    first, hint = find_known(writer_desk, "")
    assert (first[0], len(first), hint) == ("Client 00", 10, "")
    assert find_known(writer_desk, "nobody") == ([], "None was found.")


def test_two_people_are_each_suggested_what_they_may_see(sign_in, company):
    one, other = (UserFactory.create(permissions=WRITER) for _ in range(2))
    for person, name in ((one, "Alpha of one"), (other, "Alpha of the other")):
        CustomerFactory.create(name=name, city="").account_managers.add(person)
    CustomerFactory.create(name="Alpha of nobody")
    inactive = CustomerFactory.create(name="Alpha of old", is_active=False)
    inactive.account_managers.add(one, other)
    for search in ("alpha", ""):
        assert find_known(sign_in(one), search)[0] == ["Alpha of one"]
        assert find_known(sign_in(other), search)[0] == ["Alpha of the other"]
    assert find_known(sign_in(one), "alpha")[1] == "One was found."


@pytest.mark.parametrize("missing", WRITER)
def test_nobody_is_suggested_any_without_each_permission(sign_in, customer, missing):
    desk = sign_in(make_staff(*(each for each in WRITER if each != missing)))
    answer = desk.get("/customers/find", {"search": "acme"})
    assert (answer.status_code, customer.name in answer.content.decode()) == (403, False)


def test_no_name_is_markup_or_hides_a_character(writer_desk):
    CustomerFactory.create(name=EVIL, city=EVIL)
    options = writer_desk.get("/customers/find", {"search": ""}).json()["options"]
    assert "<b>" not in options
    assert not [character for character in HIDDEN if character in options]


def test_who_may_make_customers_is_led_to_that(sign_in, company, monkeypatch):
    monkeypatch.setattr(suggestions, "reverse", lambda _: "/customers/import")
    maker = sign_in(make_staff(*WRITER, Permission.MANAGE_CUSTOMERS))
    assert find(maker, "a&b")[0] == ["+ New customer “a&amp;b”"]
    options = maker.get("/customers/find", {"search": "a&b"}).json()["options"]
    assert 'data-href="/customers/import?name=a%26b&amp;for=draft"' in options
    assert find(maker, "")[0] == []
    assert find(sign_in(make_staff(*WRITER)), "a&b")[0] == []


def test_finding_takes_the_same_number_of_queries_however_many_there_are(writer_desk):
    CustomerFactory.create_batch(12, name="Client")
    find(writer_desk, "client")
    counts = []
    for more in (0, 60):
        CustomerFactory.create_batch(more, name="Client")
        with CaptureQueriesContext(connection) as queries:
            find(writer_desk, "client")
        counts.append(len(queries))
    assert counts[0] == counts[1]
