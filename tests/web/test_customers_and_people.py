"""Looking customers and colleagues up; nothing there can be changed."""

from uuid import UUID

import pytest

from invoicing.access import Permission
from invoicing.models import Skill, TimeOff, WorkingHours
from invoicing.web import customers
from tests.factories import CustomerFactory, TeamFactory, UserFactory, make_staff
from tests.web.forms import main_of

pytestmark = pytest.mark.sqlite  # a page is the same on both databases


@pytest.fixture
def browser(company, sign_in):
    return sign_in(make_staff(Permission.VIEW_CUSTOMER, Permission.VIEW_PERSON, name="Zoe"))


def test_customers_stand_in_the_order_of_their_names(browser):
    for name in ["beta", "Gamma", "Alpha"]:
        CustomerFactory.create(name=name)
    page = main_of(browser.get("/customers"))
    assert page.index("Alpha") < page.index("beta") < page.index("Gamma")
    assert "Amsterdam, Netherlands" in page


def test_an_inactive_customer_is_marked(browser):
    customer = CustomerFactory.create(name="Gone", is_active=False)
    assert "Inactive" in main_of(browser.get("/customers"))
    assert "No new document can be written" in main_of(browser.get(f"/customers/{customer.id}"))


def test_lists_are_searched_by_words_and_cut_into_pages(browser):
    for number in range(26):
        CustomerFactory.create(name=f"Café {number:02}")
    CustomerFactory.create(name="Other")
    first = main_of(browser.get("/customers?search=cafe"))
    assert "Café 00" in first
    assert "Café 25" not in first
    assert "Other" not in first
    second = main_of(browser.get("/customers?search=cafe&page=2"))
    assert "Café 25" in second
    assert "Café 24" not in second
    assert 'href="?search=cafe&amp;page=1">Back' in second
    assert "No customer was found for “x”" in main_of(browser.get("/customers?search=x"))


def test_customers_are_listed_behind_the_last_of_the_page_before(browser):
    for number in range(60):
        CustomerFactory.create(name=f"{'ab'[number % 2]}{number // 2:02}")
    first = browser.get("/customers")
    second = browser.get("/customers" + first.context["listing"].next_href)
    third = browser.get("/customers" + second.context["listing"].next_href)
    listings = [page.context["listing"] for page in (first, second, third)]
    names = [customer.name for listing in listings for customer in listing.records]
    assert names == [f"{letter}{number:02}" for letter in "ab" for number in range(30)]
    assert [listing.back_href for listing in listings] == [None, "?", "?"]
    assert listings[2].next_href is None


def test_customers_of_one_name_are_each_listed_once(browser):
    made = {CustomerFactory.create(name="Same").pk for _ in range(30)}
    first = browser.get("/customers").context["listing"]
    second = browser.get("/customers" + first.next_href).context["listing"]
    assert [len(first.records), len(second.records)] == [25, 5]
    assert {customer.pk for customer in (*first.records, *second.records)} == made


def test_a_search_that_finds_too_many_customers_asks_for_another_word(browser, monkeypatch):
    monkeypatch.setattr(customers, "FOUND_AT_MOST", 2)
    for name in ["Café B", "Café C", "Café A"]:
        CustomerFactory.create(name=name)
    page = main_of(browser.get("/customers?search=cafe"))
    assert page.index("Café B") < page.index("Café C")
    assert "There may be more" in page
    assert "There may be more" not in main_of(browser.get("/customers?search=cafe a"))


@pytest.mark.parametrize("query", ["after=x", "after=%00", f"after={UUID(int=7)}"])
def test_an_odd_place_to_go_on_from_is_the_beginning(browser, query):
    CustomerFactory.create(name="Acme")
    assert "Acme" in main_of(browser.get(f"/customers?{query}"))


@pytest.mark.parametrize(
    "query", ["page=0", "page=x", "page=999", "search=%00", "search=" + "a" * 200]
)
def test_an_odd_address_of_a_list_is_no_mistake(browser, query):
    assert browser.get(f"/customers?{query}").status_code == 200


def test_a_customer_shows_address_and_managers(browser):
    manager = UserFactory.create(name="Milo")
    CustomerFactory.create(name="Before it")
    customer = CustomerFactory.create(name="Acme Ltd", account_managers=[manager])
    page = main_of(browser.get(f"/customers/{customer.id}"))
    for expected in [
        "Acme Ltd",
        "Mill Lane 7<br>1011 AB Amsterdam<br>Netherlands",
        "NL004495445B01",
        "Milo",
    ]:
        assert expected in page


def test_a_customer_shows_the_parts_that_are_set(browser):
    parts = {
        "customer_number": "C-7",
        "tax_number": "143/123/45678",
        "email": "post@acme.example",
        "electronic_address_scheme": "9944",
        "electronic_address": "NL001234567B01",
        "e_invoice": "xrechnung",
        "buyer_reference": "04011000-1234512345-06",
        "language": "de",
        "currency_code": "USD",
        "payment_days": 0,
        "is_watched": True,
    }
    shown = {**parts, "electronic_address_scheme": "Netherlands: VAT number (9944)"}
    shown |= {"e_invoice": "XRechnung", "language": "German", "is_watched": "Always warned of"}
    page = main_of(browser.get(f"/customers/{CustomerFactory.create(**parts).id}"))
    for expected in shown.values():
        assert f"<dd> {expected} </dd>" in page
    bare = main_of(browser.get(f"/customers/{CustomerFactory.create().id}"))
    assert "Electronic address" not in bare
    assert "Days to pay" not in bare


def test_a_customer_out_of_scope_is_like_one_that_is_missing(sign_in, stranger, customer):
    browser = sign_in(stranger)
    hidden = browser.get(f"/customers/{customer.id}")
    assert hidden.status_code == 404
    assert main_of(hidden) == main_of(browser.get(f"/customers/{stranger.id}"))
    assert "Acme Ltd" not in main_of(browser.get("/customers"))


def test_a_customer_out_of_scope_is_no_place_to_go_on_from(sign_in, stranger, customer):
    """Where the page begins would tell how its name sorts."""
    CustomerFactory.create(name="Aaron", account_managers=[stranger])
    listing = sign_in(stranger).get(f"/customers?after={customer.id}").context["listing"]
    assert [each.name for each in listing.records] == ["Aaron"]
    assert listing.back_href is None


def test_a_customer_of_former_times_is_found_too(browser):
    CustomerFactory.create(name="Former Ltd", is_active=False)
    assert "Former Ltd" in main_of(browser.get("/customers?search=former"))


def test_people_are_the_active_staff(browser):
    shown = UserFactory.create(name="Vera Viewer", job_title="Engineer")
    others = [
        UserFactory.create(name="Gwen Guest", is_guest=True),
        UserFactory.create(name="Ivan Inactive", is_active=False),
    ]
    shown.skills.add(Skill.objects.create(name="Welding"))
    page = main_of(browser.get("/people"))
    assert "Vera Viewer" in page
    assert "Gwen Guest" not in page
    assert "Ivan Inactive" not in page
    assert "Vera Viewer" in main_of(browser.get("/people?search=weld"))
    assert browser.get(f"/people/{shown.id}").status_code == 200
    for other in others:
        assert browser.get(f"/people/{other.id}").status_code == 404


def test_a_person_shows_work_and_nothing_private(browser):
    boss = UserFactory.create(name="Bea Boss")
    person = UserFactory.create(
        name="Vera Viewer",
        manager=boss,
        private_email="vera@home.example",
        private_phone="+49 40 123",
        hourly_rate=98765,
        time_zone="Europe/Berlin",
    )
    TeamFactory.create(name="Finance", members=[person])
    TeamFactory.create(name="Other people")
    TeamFactory.create(name="Archived", members=[person], archived_at="2026-01-01T00:00:00Z")
    WorkingHours.objects.create(person=person, weekday=0, start_time="08:00", end_time="12:30")
    TimeOff.objects.create(
        person=person, start_date="2026-05-05", end_date="2026-05-06", kind="sickness"
    )
    page = main_of(browser.get(f"/people/{person.id}"))
    for expected in ["Bea Boss", "Finance", "Europe/Berlin", "08:00 to 12:30", person.email]:
        assert expected in page
    for private in ["home.example", "+49 40 123", "98765", "987.65", "sickness"]:
        assert private not in page
    for team in ["Archived", "Other people"]:
        assert team not in page


def test_a_manager_who_is_not_listed_is_not_named(browser):
    boss = UserFactory.create(name="Bea Boss", is_active=False)
    person = UserFactory.create(manager=boss)
    assert "Bea Boss" not in main_of(browser.get(f"/people/{person.id}"))


@pytest.mark.parametrize("path", ["/customers", "/people"])
def test_these_pages_are_only_read(browser, path):
    answer = browser.post(path)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
