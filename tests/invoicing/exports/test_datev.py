from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from invoicing.access import Permission
from invoicing.exports.datev_format import write_text
from invoicing.models import Company, Customer, DatevSettings, Document, NumberFormat, TaxRate, User
from invoicing.services.issuing import issue_document
from tests.administration import acts_written
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    TaxRateFactory,
    grant,
    line_input,
    make_correction,
    make_draft,
)
from tests.invoicing.exports.datev_reader import Booking, read_file
from tests.invoicing.exports.files import ask, download
from tests.web.forms import main_of

# What is written into a file is the same on both.
pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

ACCOUNTS = {"S": "8400", "E": "8100", "K": "8125", "O": "8338"}


@pytest.fixture
def desk(sign_in, delegate):
    return sign_in(delegate)


@pytest.fixture
def datev(company):
    Company.objects.update(untaxed_category="O")
    return DatevSettings.objects.create(adviser=1001, client=42, accounts=ACCOUNTS)


@pytest.fixture
def buyer():
    return CustomerFactory.create(name='Łódź "Käse"; 株', customer_number="10017")


@pytest.fixture
def taxed():
    return TaxRateFactory.create(name="VAT", category="S")


@pytest.fixture
def reduced():
    """A rate with an account of its own."""
    return TaxRateFactory.create(
        name="Reduced", percentage_ten_thousandths=70000, category="S", revenue_account="8300"
    )


def issue(
    delegate: User,
    buyer: Customer,
    *rates: TaxRate | None,
    price: int = 3333,
    rate: tuple[int, str] | None = None,
    **fields: Any,
) -> Document:
    """Issue an invoice with a line of 2 x `price` of each rate; `rate` is its exchange rate."""
    lines = tuple(
        line_input(unit_price=price, tax_rate_id=each.id if each else None) for each in rates
    )
    draft = make_draft(user=delegate, customer=buyer, lines=lines, **fields)
    if rate:
        millionths, base = rate
        Document.objects.filter(pk=draft.pk).update(
            exchange_rate_millionths=millionths, exchange_rate_base=base
        )
    return issue_document(Document.objects.get(pk=draft.pk), clock=at(ISSUED_AT))


def bookings(desk: Client, **fields: str) -> list[Booking]:
    return read_file(download(desk, "datev", **fields)).bookings


def refusal(desk: Client, **fields: str) -> str:
    """Return what the page says, having seen that nothing was audited."""
    before = acts_written()
    answer = ask(desk, "datev", **fields)
    assert (answer.status_code, acts_written()) == (409, before)
    return main_of(answer)


def test_the_head_says_whose_bookings_these_are(desk, delegate, datev, buyer, taxed):
    DatevSettings.objects.update(adviser=9_999_999, year_begins=7)
    issue(delegate, buyer, taxed)
    answer = ask(desk, "datev", last_day="2026-04-02")
    assert answer["Content-Disposition"] == (
        'attachment; filename="EXTF_Buchungsstapel_2026-03-01_2026-04-02.csv"'
    )
    assert read_file(b"".join(answer)).head == {
        "adviser": "9999999",
        "client": "42",
        "year_begins": date(2025, 7, 1),
        "account_length": 4,
        "days": (date(2026, 3, 1), date(2026, 4, 2)),
        "title": "Ausgangsrechnungen",
        "currency": "EUR",
    }


def test_each_rate_is_booked_gross_and_a_credit_note_on_the_other_side(
    desk, delegate, datev, buyer, taxed, reduced
):
    invoice = issue(delegate, buyer, taxed, reduced, None)
    issue_document(make_correction(invoice), clock=at(ISSUED_AT))

    def told(number: str, amount: str, account: str) -> tuple[Any, ...]:
        return (number, Decimal(amount), "EUR", "10017", account, "0203", 'Lódz "Käse"; ?')

    booked = [("79.33", "8400"), ("71.33", "8300"), ("66.66", "8338")]
    assert [each[:7] for each in bookings(desk)] == [
        *(told("INV-2026-0001", amount, account) for amount, account in booked),
        *(told("CN-2026-0001", f"-{amount}", account) for amount, account in booked),
    ]


def test_the_bookings_of_a_document_are_its_total_to_the_cent(
    desk, delegate, datev, buyer, taxed, reduced
):
    rates = (taxed, reduced, None)
    for price in (1, 5, 333, 99999):
        issue(delegate, buyer, *rates, price=price)
        rate = (1_085_700, "EUR")
        issue(delegate, buyer, *rates, price=price, currency_code="USD", rate=rate)
    totals: dict[str | None, Decimal] = defaultdict(Decimal)
    values: dict[str | None, Decimal] = defaultdict(Decimal)
    for each in bookings(desk):
        totals[each.number] += each.amount
        values[each.number] += each.base or 0
    assert len(totals) == Document.objects.count() == 8
    for document in Document.objects.all():
        total = Decimal(document.grand_total) / 100
        assert totals[document.number] == total
        if document.currency_code == "USD":
            value = (total / Decimal("1.0857")).quantize(Decimal("0.01"), "ROUND_HALF_UP")
            assert values[document.number] == value


@pytest.mark.parametrize(
    ("paid", "told"),
    [
        # 66.66 in each currency
        (("USD", 1_250_000, "EUR"), ("66.66", "USD", "1,250000", "53.33", "")),
        (("USD", 800_000, "USD"), ("66.66", "USD", "1,250000", "53.33", "")),
        # A euro is less than one: the format cannot write that rate.
        (("GBP", 800_000, "EUR"), ("83.33", "EUR", "", None, "Betrag GBP 66,66")),
        # No decimals, and three.
        (("JPY", 160_000_000, "EUR"), ("6666.00", "JPY", "160,000000", "41.66", "")),
        (("BHD", 400_000, "EUR"), ("16.67", "EUR", "", None, "Betrag BHD 6,666")),
    ],
)
def test_another_currency_is_booked_with_its_rate_or_in_euros(
    desk, delegate, datev, buyer, paid, told
):
    currency, *rate = paid
    issue(delegate, buyer, None, currency_code=currency, rate=rate)
    [each] = bookings(desk)
    base = None if each.base is None else str(each.base)
    assert (str(each.amount), each.currency, each.rate, base, each.note) == told


def test_what_comes_to_less_than_a_cent_is_not_booked(desk, delegate, datev, buyer):
    issue(delegate, buyer, None, price=1, currency_code="KRW", rate=(1_600_000_000, "EUR"))
    assert bookings(desk) == []


def test_what_has_no_total_is_not_booked_and_a_vat_number_goes_with_what_goes_to_europe(
    desk, delegate, datev, buyer
):
    europe = TaxRateFactory.create(name="EU", percentage_ten_thousandths=0, category="K")
    issue(delegate, buyer, europe)
    issue(delegate, buyer, europe, price=0)
    assert [(each.account, each.vat_number) for each in bookings(desk)] == [
        ("8125", "NL004495445B01")
    ]


def test_numbers_are_written_in_the_characters_of_the_format(desk, delegate, datev, buyer):
    NumberFormat.objects.create(type="invoice", prefix="A/B_1.")
    Customer.objects.update(vat_number='nl 0044.95445ß;"b01Ж')
    europe = TaxRateFactory.create(name="EU", percentage_ten_thousandths=0, category="K")
    issue(delegate, buyer, europe)
    [each] = bookings(desk)
    assert (each.number, each.vat_number) == ("A/B-1-2026-0001", "NL004495445SSB0")


def test_the_debtor_is_the_frozen_number_else_the_present_one(desk, delegate, datev, buyer, taxed):
    issue(delegate, buyer, taxed)
    other = CustomerFactory.create(name="Berg", customer_number="C-7")
    issue(delegate, other, taxed)
    Customer.objects.update(customer_number="69999")
    assert [each.debtor for each in bookings(desk)] == ["10017", "69999"]


@pytest.mark.parametrize(
    "number", ["", "C-17", "1001", "100017", "70001", "\u0661\u0660\u0660\u0661\u0667"]
)
def test_customers_without_a_debtor_number_are_named_before_anything_leaves(
    desk, delegate, datev, taxed, number
):
    for name in ("Acme & Co", "Berg"):
        issue(delegate, CustomerFactory.create(name=name, customer_number=number), taxed)
    page = refusal(desk)
    assert "A customer number has to be a DATEV debtor, of 5 digits, the first of them 1" in page
    for customer in Customer.objects.all():
        name = customer.name.replace("&", "&amp;")
        assert f'<a href="/customers/{customer.pk}">{name}</a>' in page


def test_what_is_missing_in_the_books_is_named_with_the_page_that_mends_it(
    sign_in, owner, delegate, datev, buyer, taxed
):
    grant(owner, *Permission)
    desk = sign_in(owner)
    unknown = TaxRateFactory.create(name="Who knows", percentage_ten_thousandths=10000)
    long = TaxRateFactory.create(name="Long", category="S", revenue_account="84000")
    issue(delegate, buyer, taxed, unknown, long, None)
    Company.objects.update(untaxed_category="")
    DatevSettings.objects.update(accounts={})
    page, settings = refusal(desk), "/admin/invoices/datevsettings/"
    for said, address in (
        ("There is no revenue account for “Taxed”.", settings),
        ("the tax rate “Who knows” means, and it has no account", f"taxrate/{unknown.pk}/change"),
        ("The account 84000 of the tax rate “Long” has not 4 digits.", f"taxrate/{long.pk}/change"),
        (
            "There is no revenue account for “Outside the scope of VAT”.",
            "/admin/invoices/datevsettings/",
        ),
    ):
        assert said in page
        assert address in page


def test_without_settings_there_are_no_bookings(desk, delegate, buyer, taxed):
    issue(delegate, buyer, taxed)
    assert "The numbers that your tax adviser gave you are missing." in refusal(desk)


def test_a_file_is_of_one_fiscal_year(desk, delegate, datev, buyer, taxed):
    issue(delegate, buyer, taxed)
    assert len(bookings(desk, first_day="2026-01-01", last_day="2026-12-31")) == 1
    DatevSettings.objects.update(year_begins=3)
    said = "yours begins with month 3: choose days of one year"
    assert said in refusal(desk, first_day="2026-02-28", last_day="2026-03-31")
    assert said in refusal(desk, first_day="1900-01-01", last_day="9999-12-31")
    assert len(bookings(desk, first_day="2026-03-01", last_day="2027-02-28")) == 1


def test_another_currency_without_a_rate_is_named(desk, delegate, datev, buyer, taxed):
    issue(delegate, buyer, taxed, currency_code="USD")
    issue(delegate, buyer, taxed)
    assert "INV-2026-0001 is in USD and has no exchange rate to EUR" in refusal(desk)
    assert len(bookings(desk, currency_code="EUR")) == 1


def test_a_rate_between_two_other_currencies_makes_no_euros(desk, delegate, datev, buyer, taxed):
    Company.objects.update(national_currency="CHF")
    issue(delegate, buyer, taxed, currency_code="USD", rate=(900_000, "USD"))
    assert "INV-2026-0001 is in USD and has no exchange rate to EUR" in refusal(desk)


def test_an_amount_that_the_format_cannot_write_is_named(desk, delegate, datev, buyer):
    issue(delegate, buyer, None, price=500_000_000_000)
    assert "INV-2026-0001 is too large for a booking" in refusal(desk)


@given(st.text())
def test_any_name_becomes_a_text_of_the_format(name):
    written = write_text(name)
    assert len(written) <= 60
    assert written.encode("cp1252").decode("cp1252") == written
    assert written == "" or written.isprintable()


def test_letters_that_windows_does_not_have_lose_their_marks():
    assert write_text("Škoda Łódź Győr\nĐorđe ﬁne 株式 =1") == "Škoda Lódz Gyor Dorde fine ?? =1"
    assert write_text("=1+1") == "'=1+1"
