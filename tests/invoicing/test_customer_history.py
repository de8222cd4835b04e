"""What is unusual about a draft, given what its customer got before."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from invoicing.fixed_point import SCALE
from invoicing.models import Customer, DocumentType
from invoicing.services import customer_history
from invoicing.services.customer_history import LATELY, Amounts, History, find_history
from invoicing.services.document_facts import read_facts
from tests.factories import CustomerFactory, TaxRateFactory, line_input, make_draft, make_issued

NOW = datetime(2026, 3, 20, 9, 0, tzinfo=UTC)
FIRST = History(is_first=True)
HOUR = {"description": "Consulting", "unit_price": 5000}


def history_of(draft, user, *, now=NOW) -> History:
    read_facts([draft])
    return find_history(user, draft, now=now)


@pytest.fixture(autouse=True)
def seller(company):
    return company


def issue(customer, *lines: Any, issued_at=NOW - timedelta(days=3), **header: Any):
    """Issue an invoice with lines of these fields, or with the one that drafts have."""
    asked = tuple(line_input(**fields) for fields in lines)
    return make_issued(customer=customer, issued_at=issued_at, lines=asked, **header)


def issue_totals(customer, *totals: int, **header: Any) -> None:
    """Issue invoices with these totals, in minor units, whose lines no draft here describes."""
    for total in totals:
        line = {"description": "Other", "quantity": SCALE, "unit_price": total}
        issue(customer, line, **header)


def test_the_latest_invoice_of_the_same_total_to_the_customer_is_named(delegate, customer, draft):
    issue(customer, issued_at=NOW - timedelta(days=9))
    latest = issue(customer)
    assert history_of(draft, delegate) == History(same_total=latest)


def test_it_was_lately_within_thirty_days(delegate, customer, draft):
    issued = issue(customer, issued_at=NOW - LATELY)
    assert history_of(draft, delegate) == History(same_total=issued)
    assert history_of(draft, delegate, now=NOW + timedelta(seconds=1)) == History()


def test_another_customer_total_currency_or_type_is_not_the_same(delegate, customer, draft):
    issue(CustomerFactory.create())
    issue_totals(customer, 10001)
    issue(customer, currency_code="USD")
    issue(customer, document_type=DocumentType.CREDIT_NOTE)
    make_draft(user=delegate, customer=customer)
    assert history_of(draft, delegate) == History()


def test_of_a_credit_note_only_the_same_total_is_told(delegate, customer):
    note = make_draft(customer=customer, document_type=DocumentType.CREDIT_NOTE)
    assert history_of(note, delegate) == History()
    issued = issue(customer, document_type=DocumentType.CREDIT_NOTE)
    assert history_of(note, delegate) == History(same_total=issued)


def test_the_first_invoice_to_a_customer_is_told_whatever_else_it_got(delegate, customer, draft):
    issue(CustomerFactory.create())
    issue(customer, document_type=DocumentType.CREDIT_NOTE)
    make_draft(customer=customer)
    assert history_of(draft, delegate) == FIRST
    issue(customer, currency_code="USD")
    assert history_of(draft, delegate) == History()


def test_nothing_is_told_of_invoices_that_the_person_may_not_see(stranger, customer, draft):
    issue(customer)
    assert history_of(draft, stranger) == FIRST
    customer.account_managers.add(stranger)
    assert history_of(draft, stranger).same_total is not None


def test_of_very_many_documents_only_the_customers_newest_are_compared(
    delegate, customer, draft, monkeypatch
):
    monkeypatch.setattr(customer_history, "COMPARED", 3)
    issued = issue(customer)
    for _ in range(2):
        make_draft(user=delegate, customer=customer)
        issue(CustomerFactory.create())
    assert history_of(draft, delegate) == History(same_total=issued)
    make_draft(user=delegate, customer=customer)
    assert history_of(draft, delegate) == History(is_first=True, is_cut=True)


def test_a_total_more_than_three_times_the_highest_is_told_with_the_figures(delegate, customer):
    draft = make_draft(customer=customer)  # of 100.00
    issue_totals(customer, 1000, 3333)
    assert history_of(draft, delegate).usual is None, "two tell nothing yet"
    issue_totals(customer, 2000)
    issue_totals(customer, 90000, currency_code="USD")
    issue_totals(CustomerFactory.create(), 90000)
    assert history_of(draft, delegate) == History(usual=Amounts(3, highest=3333, median=2000))
    issue_totals(customer, 3334)
    assert history_of(draft, delegate) == History()


def test_only_the_last_invoices_tell_what_is_usual(delegate, customer, draft, monkeypatch):
    monkeypatch.setattr(customer_history, "LAST", 3)
    issue_totals(customer, 90000, 1000, 1000, 1000)
    assert history_of(draft, delegate).usual == Amounts(3, highest=1000, median=1000)


def test_an_invoice_with_the_same_lines_and_another_total_is_named(delegate, customer):
    lines = [HOUR, {"description": "Travel", "unit_price": 700}]
    draft = make_draft(customer=customer, lines=tuple(line_input(**each) for each in lines))
    same = issue(customer, lines[1], HOUR | {"unit_price": 4900})
    for other in (
        lines[:1],
        [*lines, {"description": "Parking"}],
        [HOUR, lines[1] | {"quantity": SCALE}],
    ):
        issue(customer, *other)
    found = history_of(draft, delegate)
    assert (found.same_total, found.same_lines) == (None, same)
    assert history_of(draft, delegate, now=NOW + LATELY).same_lines is None


def test_a_price_or_a_rate_that_differs_from_the_last_such_line_is_told(delegate, customer):
    full, reduced = (TaxRateFactory.create(percentage_ten_thousandths=n * SCALE) for n in (19, 7))
    taxed = HOUR | {"tax_rate_id": full.id}
    draft = make_draft(customer=customer, lines=(line_input(**taxed), line_input(**HOUR)))

    def differences() -> list[Any]:
        return [
            (each.line.position, each.before.unit_price, each.before.tax_rate, each.invoice)
            for each in history_of(draft, delegate).differences
        ]

    issue(customer, taxed | {"unit_price": 1}, HOUR, {"description": "consulting"})
    old = issue(customer, taxed | {"unit_price": 4900}, HOUR)
    issue_totals(customer, 5)
    issue(CustomerFactory.create(), HOUR)
    issue(customer, HOUR, currency_code="USD")
    assert differences() == [(0, 4900, full, old)]
    new = issue(customer, HOUR | {"tax_rate_id": reduced.id})
    assert differences() == [(0, 5000, reduced, new), (1, 5000, reduced, new)]
    issue(customer, HOUR, taxed)
    assert differences() == []


def test_a_renamed_rate_of_the_same_percentage_is_no_difference(delegate, customer):
    rates = [TaxRateFactory.create(name=name) for name in ("VAT", "VAT 2")]
    issue(customer, HOUR | {"tax_rate_id": rates[0].id})
    draft = make_draft(customer=customer, lines=(line_input(tax_rate_id=rates[1].id),))
    assert history_of(draft, delegate).differences == ()


def test_the_number_of_queries_does_not_grow(delegate, customer, draft, django_assert_num_queries):
    def ask() -> None:
        found = find_history(delegate, draft, now=NOW)
        assert found.differences

    read_facts([draft])
    issue(customer, HOUR | {"unit_price": 4900})
    with django_assert_num_queries(5):
        ask()
    for _ in range(5):
        issue(customer, HOUR | {"unit_price": 4900}, {"description": "Travel"})
    with django_assert_num_queries(5):
        ask()
    assert Customer.objects.count() == 1
