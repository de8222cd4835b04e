"""What an invoice says of its parties, as administrators write it."""

import pytest
from django.utils.translation import override

from invoicing.electronic_addresses import schemes
from invoicing.languages import name_of_country
from invoicing.models import Company, Customer
from tests.admin.forms import assert_saved, form_of, refused, save, shown_of, url_of
from tests.administration import acts_written, make_administrator
from tests.factories import CustomerFactory
from tests.web.forms import main_of

# A page is the same on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

PARTY = {
    "address_line": "Building 7",
    "region": "Bavaria",
    "tax_number": "143/123/45678",
    "email": "post@example.com",
    "electronic_address_scheme": "0088",
    "electronic_address": "4000001000005",
    "payment_days": "14",
}
OF_COMPANY = {
    "registration": "HRB 12345, Amtsgericht Hamburg",
    "contact_name": "Olga Owner",
    "phone": "+49 40 123",
    "footer_text": "Managing director:\nOlga Owner",
    "national_currency": "CHF",
}
OF_CUSTOMER = {
    "customer_number": "C-7",
    "buyer_reference": "04011000-1234512345-06",
    "language": "de",
    "currency_code": "USD",
    "e_invoice": "xrechnung",
}
PROPOSED = "Proposed: “E-mail address (EM)” or “Netherlands: VAT number (9944)”."


@pytest.fixture
def seller(company):
    return company


@pytest.fixture
def buyer(customer):
    return customer


@pytest.mark.parametrize(
    ("kind", "fields"), [("seller", PARTY | OF_COMPANY), ("buyer", PARTY | OF_CUSTOMER)]
)
def test_every_part_of_a_party_is_kept_as_it_was_typed(desk, request, kind, fields):
    party = request.getfixturevalue(kind)
    assert_saved(save(desk, party, **fields))
    party.refresh_from_db()
    assert {name: str(getattr(party, name)) for name in fields} == fields
    shown = form_of(desk.get(url_of(party)))
    assert {name: shown[name] for name in fields} == fields
    [(_, _, changed)] = acts_written()
    assert set(changed.split(", ")) == set(fields)


def test_an_electronic_address_is_proposed_and_not_taken_by_itself(desk):
    customer = CustomerFactory.create(email="post@acme.example", vat_number="NL 0012.34567.B01")
    assert PROPOSED in main_of(desk.get(url_of(customer)))
    assert_saved(save(desk, customer, city="Utrecht"))
    customer.refresh_from_db()
    assert (customer.electronic_address_scheme, customer.electronic_address) == ("", "")


@pytest.mark.parametrize(
    ("scheme", "address"), [("EM", "post@acme.example"), ("9944", "NL001234567B01")]
)
def test_a_chosen_scheme_takes_the_address_from_what_is_known(desk, scheme, address):
    customer = CustomerFactory.create(vat_number="NL 0012.34567.B01")
    fields = {"email": "post@acme.example", "electronic_address_scheme": scheme}
    assert_saved(save(desk, customer, **fields))
    customer.refresh_from_db()
    assert customer.electronic_address == address
    assert "Proposed" not in main_of(desk.get(url_of(customer)))
    assert_saved(save(desk, customer, email="other@acme.example"))
    customer.refresh_from_db()
    assert customer.electronic_address == address


@pytest.mark.parametrize(
    ("scheme", "address", "problem"),
    [
        ("", "4000001000005", {"electronic_address_scheme": "Choose what this"}),
        ("0088", "", {"electronic_address": "Write the electronic address"}),
        ("EM", "", {"electronic_address": "Write the electronic address"}),
        ("9930", "", {"electronic_address": "Write the electronic address"}),
        ("0204", "04011000-1234512345-07", {"electronic_address": "This is not a Leitweg-ID"}),
        ("0088", "4000001000006", {"electronic_address": "This is not a number"}),
        ("0088", "4000001-00000-5", {"electronic_address": "This is not a number"}),
        ("0192", "923609017", {"electronic_address": "This is not a number"}),
        ("0208", "0403019262", {"electronic_address": "This is not a number"}),
        ("0208", "403019261", {"electronic_address": "This is not a number"}),
        ("0007", "2120001356", {"electronic_address": "This is not a number"}),
        ("0151", "51824753557", {"electronic_address": "This is not a number"}),
        ("0000", "1", {"electronic_address_scheme": "Select a valid choice"}),
    ],
)
def test_an_electronic_address_and_its_scheme_go_together(desk, customer, scheme, address, problem):
    fields = {"electronic_address_scheme": scheme, "electronic_address": address}
    said = refused(lambda: save(desk, customer, **fields))
    [(name, start)] = problem.items()
    assert said[name][0].startswith(start)


@pytest.mark.parametrize(
    ("scheme", "address"),
    [
        ("0192", "923609016"),
        ("0208", "0403019261"),
        ("0007", "2120001355"),
        ("0151", "51824753556"),
    ],
)
def test_a_number_that_peppol_checks_is_taken_with_its_check_digits(
    desk, customer, scheme, address
):
    fields = {"electronic_address_scheme": scheme, "electronic_address": address}
    assert_saved(save(desk, customer, **fields))
    customer.refresh_from_db()
    assert customer.electronic_address == address


def test_a_leitweg_id_has_its_check_digits(desk, customer):
    fields = {
        "electronic_address_scheme": "0204",
        "electronic_address": "04011000-1234512345-06",
    }
    assert_saved(save(desk, customer, **fields))


def test_a_scheme_is_shown_in_words():
    assert schemes()["9930"] == "Germany: VAT number"
    for language in ("en", "de"):
        with override(language):
            assert len(schemes()) == len(set(schemes().values()))
            assert schemes()["9930"].startswith(name_of_country("DE", language))


@pytest.mark.parametrize(
    ("name", "typed"),
    [("payment_days", "367"), ("language", "xx"), ("currency_code", "XAU"), ("email", "post")],
)
def test_what_no_draft_can_be_filled_with_is_refused(desk, customer, name, typed):
    assert list(refused(lambda: save(desk, customer, **{name: typed}))) == [name]


def test_the_currency_of_taxes_is_proposed_by_the_country(desk, company):
    assert "As in its country (EUR)" in main_of(desk.get(url_of(company)))
    Company.objects.update(country="CH")
    assert "As in its country (CHF)" in main_of(desk.get(url_of(company)))
    assert Company.objects.get().national_currency == ""


def test_customers_are_found_by_their_number(desk):
    CustomerFactory.create(name="Acme Ltd", customer_number="C-77")
    CustomerFactory.create(name="Other Ltd")
    page = main_of(desk.get("/admin/invoices/customer/?q=C-77"))
    assert "Acme Ltd" in page
    assert "Other Ltd" not in page


def test_who_may_only_look_sees_the_parts_and_no_way_to_change_them(sign_in, company, customer):
    Customer.objects.update(tax_number="143/123/45678")
    Company.objects.update(registration="HRB 12345")
    desk = sign_in(make_administrator("view_company", "view_customer", "view_all_customers"))
    assert shown_of(desk.get(url_of(customer)))["tax_number"] == "143/123/45678"
    page = desk.get(url_of(company))
    assert shown_of(page)["registration"] == "HRB 12345"
    assert 'type="file"' not in main_of(page)


def test_the_amounts_from_which_is_warned_are_typed_as_lines(desk, company):
    assert_saved(save(desk, company, watched_amounts=" eur 10000.5 \n\nJPY 7\n"))
    company.refresh_from_db()
    assert company.watched_amounts == {"EUR": 1000050, "JPY": 7}
    assert form_of(desk.get(url_of(company)))["watched_amounts"] == "EUR 10000.50\nJPY 7"
    assert_saved(save(desk, company, watched_amounts=""))
    company.refresh_from_db()
    assert company.watched_amounts == {}
    assert [changed for _, _, changed in acts_written()] == ["watched_amounts"] * 2


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("10000", "“10000”: write a currency and an amount, such as EUR 10000.00."),
        ("XAU 1", "“XAU 1”: write a currency and an amount, such as EUR 10000.00."),
        ("EUR 1\nEUR 2", "“EUR 2”: the currency has an amount already."),
        ("JPY 1.5", "Write no decimals here."),
        ("EUR 1000000000000000000", "“EUR 1000000000000000000”: write a currency and an amount"),
    ],
)
def test_an_amount_that_cannot_be_meant_is_refused(desk, company, typed, problem):
    [said] = refused(lambda: save(desk, company, watched_amounts=typed))["watched_amounts"]
    assert said.startswith(problem)


def test_who_may_only_look_reads_the_amounts_as_they_were_typed(sign_in, company):
    Company.objects.update(watched_amounts={"EUR": 1000050})
    reader = sign_in(make_administrator("view_company"))
    assert shown_of(reader.get(url_of(company)))["watched_from"] == "EUR 10000.50"


def test_an_amount_in_a_withdrawn_currency_is_shown_until_it_is_removed(desk, company):
    Company.objects.update(watched_amounts={"EUR": 1000050, "BGN": 1955830})
    kept = "EUR 10000.50\nBGN 19558.30"
    assert form_of(desk.get(url_of(company)))["watched_amounts"] == kept
    assert refused(lambda: save(desk, company, watched_amounts=kept)) == {
        "watched_amounts": ["“BGN 19558.30”: write a currency and an amount, such as EUR 10000.00."]
    }
    assert_saved(save(desk, company, watched_amounts="EUR 10000.50"))
    company.refresh_from_db()
    assert company.watched_amounts == {"EUR": 1000050}


def test_a_customer_can_always_be_warned_of(desk, customer):
    assert_saved(save(desk, customer, is_watched="on"))
    customer.refresh_from_db()
    assert customer.is_watched
