"""What was issued in each month: the sums, whoever sees them, and however they are kept."""

from datetime import date

import pytest
from django.db import transaction

from invoicing.models import DocumentType, NumberFormat
from invoicing.money import MAX_AMOUNT
from invoicing.services import issued_totals, issuing
from invoicing.services.issued_totals import (
    Group,
    TooManyError,
    Total,
    keep_totals,
    read_totals,
)
from invoicing.services.numbering import lock_formats, start_series
from tests.clocks import at
from tests.factories import (
    ISSUED_AT,
    CustomerFactory,
    line_input,
    make_connection_ref,
    make_correction,
    make_draft,
    make_issued,
)

pytestmark = pytest.mark.django_db

INVOICE, CREDIT_NOTE = DocumentType.INVOICE, DocumentType.CREDIT_NOTE
FIRST = date(2025, 4, 1)
MARCH = date(2026, 3, 1)
EUR = Group(MARCH, "EUR", 2)


def keep() -> None:
    with transaction.atomic():
        keep_totals(INVOICE)


def test_each_month_and_currency_has_a_total_of_its_own(delegate):
    make_issued()
    make_issued(connection=make_connection_ref())
    make_issued(currency_code="JPY", lines=(line_input(unit_price=700),))
    make_issued(issue_date=date(2026, 2, 28))
    make_draft()
    assert read_totals(delegate, since=FIRST) == {
        INVOICE: {
            EUR: Total(count=2, by_agents=1, amount=20_000),
            Group(MARCH, "JPY", 0): Total(1, 0, 1400),
            Group(date(2026, 2, 1), "EUR", 2): Total(1, 0, 10_000),
        },
        CREDIT_NOTE: {},
    }


def test_credit_notes_are_added_up_apart(delegate):
    note = make_correction(make_issued())
    issuing.issue_document(note, clock=at(ISSUED_AT))
    assert read_totals(delegate, since=FIRST) == {
        INVOICE: {EUR: Total(1, 0, 10_000)},
        CREDIT_NOTE: {EUR: Total(1, 0, 10_000)},
    }


def test_months_before_are_left_out(delegate, stranger, customer):
    customer.account_managers.add(stranger)
    make_issued(customer=customer, issue_date=date(2025, 3, 31))
    keep()
    for person in (delegate, stranger):
        assert read_totals(person, since=FIRST) == {INVOICE: {}, CREDIT_NOTE: {}}


def test_a_person_sees_the_totals_of_their_own_customers_alone(delegate, stranger, customer):
    make_issued(customer=customer)
    make_issued(customer=CustomerFactory.create(account_managers=[stranger]))
    keep()
    assert read_totals(delegate, since=FIRST)[INVOICE] == {EUR: Total(2, 0, 20_000)}
    assert read_totals(stranger, since=FIRST)[INVOICE] == {EUR: Total(1, 0, 10_000)}


def test_what_was_issued_since_the_totals_were_kept_is_added(delegate, monkeypatch):
    monkeypatch.setattr(issued_totals, "COUNTED_AT_ONCE", 2)
    for number in range(1, 6):
        make_issued(connection=make_connection_ref() if number % 2 else None)
        if number == 4:
            keep()
    kept = NumberFormat.objects.get(type=INVOICE).issued_totals
    assert kept is not None
    assert [*kept["counted"].values()] == [4]
    assert kept["totals"] == [["2026-03-01", "EUR", 2, 4, 2, 40_000]]
    assert read_totals(delegate, since=FIRST)[INVOICE] == {EUR: Total(5, 3, 50_000)}
    keep()
    keep()
    assert read_totals(delegate, since=FIRST)[INVOICE] == {EUR: Total(5, 3, 50_000)}


def test_issuing_keeps_the_totals_now_and_then(delegate, monkeypatch):
    monkeypatch.setattr(issuing, "KEPT_EVERY", 2)
    for _ in range(3):
        make_issued()
    kept = NumberFormat.objects.get(type=INVOICE).issued_totals
    assert kept is not None
    assert [*kept["counted"].values()] == [2]
    assert read_totals(delegate, since=FIRST)[INVOICE] == {EUR: Total(3, 0, 30_000)}


def test_a_series_whose_start_is_lowered_again_is_added_up_from_there(delegate):
    make_issued()
    start(2027, next_value=501)
    keep()
    start(2027, next_value=1)
    make_issued(issue_date=date(2027, 1, 2), due_date=date(2027, 1, 30))
    keep()
    january = Group(date(2027, 1, 1), "EUR", 2)
    assert read_totals(delegate, since=FIRST)[INVOICE] == {
        EUR: Total(1, 0, 10_000),
        january: Total(1, 0, 10_000),
    }


def start(year: int, *, next_value: int) -> None:
    with transaction.atomic():
        [number_format] = lock_formats(INVOICE)
        start_series(number_format, year, next_value=next_value)


def test_an_issue_that_is_undone_leaves_no_total(delegate, monkeypatch):
    monkeypatch.setattr(issuing, "KEPT_EVERY", 1)
    make_issued()
    with transaction.atomic():
        make_issued()
        transaction.set_rollback(True)
    assert read_totals(delegate, since=FIRST)[INVOICE] == {EUR: Total(1, 0, 10_000)}


def test_the_largest_amounts_are_added_up_exactly(delegate, stranger):
    customer = CustomerFactory.create(account_managers=[stranger])
    largest = line_input(quantity=10_000, unit_price=MAX_AMOUNT)
    for _ in range(12):
        make_issued(customer=customer, lines=(largest,))
    for person in (delegate, stranger):
        assert read_totals(person, since=FIRST)[INVOICE] == {EUR: Total(12, 0, 12 * MAX_AMOUNT)}
    keep()
    assert read_totals(delegate, since=FIRST)[INVOICE] == {EUR: Total(12, 0, 12 * MAX_AMOUNT)}


def test_more_documents_than_a_page_can_wait_for_are_not_added_up(stranger, monkeypatch):
    customer = CustomerFactory.create(account_managers=[stranger])
    monkeypatch.setattr(issued_totals, "MOST_ADDED_UP", 2)
    for _ in range(2):
        make_issued(customer=customer)
    assert read_totals(stranger, since=FIRST)[INVOICE] == {EUR: Total(2, 0, 20_000)}
    make_issued(customer=customer)
    with pytest.raises(TooManyError):
        read_totals(stranger, since=FIRST)
