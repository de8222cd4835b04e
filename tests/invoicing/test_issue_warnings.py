from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from agent_access.approvals.models import ApprovalRequest, Decision
from invoicing.agent_tools.issue_approvals import ISSUE_APPROVAL
from invoicing.document_approvals import find_alike
from invoicing.models import Company, Customer, Document, DocumentType
from invoicing.services import issue_warnings
from invoicing.services.document_facts import read_facts
from invoicing.services.issue_warnings import LATELY, Missing, Warnings, find_warnings
from invoicing.services.issuing import issue_document
from invoicing.web.formats import local_date
from tests.approvals import prepare
from tests.clocks import at
from tests.factories import CustomerFactory, TaxRateFactory, line_input, make_draft, make_issued
from tests.plans import plans_of, prefer_indexes

NOW = datetime(2026, 3, 20, 9, 0, tzinfo=UTC)
NOTHING = Warnings(
    missing=[],
    same_total=None,
    is_future=False,
    is_other_year=False,
    is_due_late=False,
    last_issue_date=None,
)


def warnings_about(draft, user, *, now=NOW):
    [facts] = read_facts([draft])
    return find_warnings(user, draft, facts, now=now, today=local_date(now, user))


@pytest.fixture(autouse=True)
def seller(company):
    """A company that charges no tax, as the lines of these tests have none."""
    Company.objects.update(vat_number="")


def alike_to(draft, user, *, now=NOW) -> ApprovalRequest | None:
    found = find_alike(user, draft, now=now)
    return found.approval if found else None


def ask(draft, user, decision: str = "") -> ApprovalRequest:
    """Return an approval that the person is asked for, and has decided or not."""
    prepared = prepare(draft, user=user, now=NOW)
    if decision:
        prepared.decide(Decision(decision), now=NOW)
    return prepared.approval


def issue(customer, *, issued_at=NOW - timedelta(days=3), **header: Any):
    return make_issued(customer=customer, issued_at=issued_at, **header)


def test_an_ordinary_invoice_raises_no_warning(delegate, draft):
    assert warnings_about(draft, delegate) == NOTHING


def test_an_invoice_without_what_every_invoice_names_is_told(delegate, customer, draft):
    nowhere = {"street": "", "postcode": "", "city": "", "country": ""}
    Company.objects.update(**nowhere, vat_number="")
    Customer.objects.update(**nowhere, vat_number="")
    draft.refresh_from_db()
    addresses = [Missing.SELLER_ADDRESS, Missing.CUSTOMER_ADDRESS]
    assert warnings_about(draft, delegate).missing == addresses
    rate = TaxRateFactory.create()
    taxed = make_draft(customer=customer, lines=(line_input(tax_rate_id=rate.id),))
    assert warnings_about(taxed, delegate).missing == [*addresses, Missing.SELLER_VAT_NUMBER]


def test_a_line_without_a_tax_is_told_where_the_company_has_a_vat_number(delegate, customer):
    Company.objects.update(vat_number="DE123456789")
    zero = line_input(tax_rate_id=TaxRateFactory.create(percentage_ten_thousandths=0).id)
    partly = make_draft(customer=customer, lines=(zero, line_input()))
    assert warnings_about(partly, delegate).missing == [Missing.LINE_TAX]
    chosen = make_draft(customer=customer, lines=(zero,))
    assert warnings_about(chosen, delegate) == NOTHING


def test_the_latest_invoice_of_the_same_total_to_the_customer_is_named(delegate, customer, draft):
    issue(customer, issued_at=NOW - timedelta(days=9))
    latest = issue(customer)
    assert warnings_about(draft, delegate).same_total == latest


def test_it_was_lately_within_thirty_days(delegate, customer, draft):
    issued = issue(customer, issued_at=NOW - LATELY)
    assert warnings_about(draft, delegate).same_total == issued
    assert warnings_about(draft, delegate, now=NOW + timedelta(seconds=1)) == NOTHING


def test_another_customer_total_currency_or_type_is_not_the_same(delegate, customer, draft):
    issue(CustomerFactory.create())
    issue(customer, lines=(line_input(unit_price=5001),))
    issue(customer, currency_code="USD")
    issue(customer, document_type=DocumentType.CREDIT_NOTE)
    make_draft(user=delegate, customer=customer)
    assert warnings_about(draft, delegate) == NOTHING


def test_of_very_many_documents_only_the_customers_newest_are_compared(
    delegate, customer, draft, monkeypatch
):
    monkeypatch.setattr(issue_warnings, "COMPARED", 3)
    issued = issue(customer)
    for _ in range(2):
        issue(customer, lines=(line_input(unit_price=5001),))
        issue(CustomerFactory.create())
    assert warnings_about(draft, delegate).same_total == issued
    make_draft(user=delegate, customer=customer)
    assert warnings_about(draft, delegate) == NOTHING


@pytest.mark.parametrize("decision", ["", Decision.APPROVED])
def test_another_draft_of_the_same_total_that_may_be_issued_too_is_named(
    delegate, customer, draft, decision
):
    other = make_draft(user=delegate, customer=customer)
    _, newest = [ask(other, delegate, decision) for _ in range(2)]
    ask(draft, delegate)
    assert alike_to(draft, delegate) == newest
    assert alike_to(draft, delegate, now=NOW + ISSUE_APPROVAL.window) is None


def test_a_draft_is_not_alike_if_it_differs_or_cannot_be_issued_any_more(
    delegate, colleague, customer, draft
):
    for different in (
        {"customer": CustomerFactory.create()},
        {"lines": (line_input(unit_price=5001),)},
        {"currency_code": "USD"},
    ):
        ask(make_draft(**{"customer": customer, **different}), delegate)
    ask(make_draft(customer=customer), delegate, Decision.REJECTED)
    ask(make_draft(customer=customer), colleague)
    changed = ask(make_draft(customer=customer), delegate)
    Document.objects.filter(pk=changed.target).update(lock_version=2)
    issued = ask(make_draft(customer=customer), delegate)
    document = issue_document(Document.objects.get(pk=issued.target), clock=at(NOW))
    assert alike_to(draft, delegate) is None
    assert warnings_about(draft, delegate).same_total == document


def test_nor_if_it_is_stale_by_its_customer_alone(delegate, customer, draft):
    ask(make_draft(customer=customer), delegate)
    Customer.objects.update(street="Another Lane 1")
    draft.refresh_from_db()
    assert alike_to(draft, delegate) is None


@pytest.mark.parametrize(("zone", "is_future"), [("UTC", True), ("Pacific/Auckland", False)])
def test_the_future_begins_with_the_persons_own_tomorrow(delegate, customer, zone, is_future):
    delegate.time_zone = zone
    tomorrow = make_draft(user=delegate, customer=customer, issue_date=date(2026, 3, 21))
    this_evening = datetime(2026, 3, 20, 20, 0, tzinfo=UTC)
    assert warnings_about(tomorrow, delegate, now=this_evening).is_future is is_future


@pytest.mark.parametrize(("zone", "is_other_year"), [("UTC", False), ("Pacific/Auckland", True)])
def test_the_year_is_that_of_the_persons_own_calendar(delegate, customer, zone, is_other_year):
    delegate.time_zone = zone
    on_the_last_day = make_draft(
        user=delegate, customer=customer, issue_date=date(2026, 12, 31), due_date=date(2027, 1, 31)
    )
    new_year = datetime(2026, 12, 31, 12, 0, tzinfo=UTC)
    warned = warnings_about(on_the_last_day, delegate, now=new_year)
    assert warned.is_other_year is is_other_year


def test_a_due_date_more_than_a_year_later_is_told(delegate, customer):
    for days, is_late in ((366, False), (367, True)):
        issue_date = date(2026, 3, 2)
        due_date = issue_date + timedelta(days=days)
        draft = make_draft(customer=customer, issue_date=issue_date, due_date=due_date)
        assert warnings_about(draft, delegate).is_due_late is is_late


def test_an_issue_date_before_the_last_number_of_its_series_is_named(delegate, draft):
    later = date(2026, 3, 5)
    issue(CustomerFactory.create(), issue_date=later)
    assert warnings_about(draft, delegate).last_issue_date == later


def test_the_same_day_another_series_and_an_earlier_number_are_no_warning(delegate, draft):
    other = CustomerFactory.create()
    for _ in range(3):  # so that each of the other series is further than the draft's
        issue(other, document_type=DocumentType.CREDIT_NOTE, issue_date=date(2026, 3, 9))
        issue(other, issue_date=date(2027, 1, 2), due_date=date(2027, 2, 1))
    issue(other, issue_date=date(2026, 3, 5))
    issue(other, issue_date=draft.issue_date)
    assert warnings_about(draft, delegate) == NOTHING


@pytest.mark.parametrize(
    ("where", "index", "others"),
    [
        ('"issued_at" DESC', "document_by_customer", ("pkey", "autoindex")),
        ('"executed_at" IS NULL', "approval_by_expiry", ("document_by_customer",)),
        ('"series_value" DESC', "series", ("sort", "b-tree")),
    ],
    ids=["the customer's documents", "the person's requests", "the last of the series"],
)
def test_no_warning_costs_a_look_at_all_documents(  # noqa: PLR0917  fixtures
    delegate, customer, draft, monkeypatch, where, index, others
):
    monkeypatch.setattr(issue_warnings, "COMPARED", 2)
    for other in CustomerFactory.create_batch(3):
        for buyer in (customer, other, other):
            issue(buyer)
    ask(make_draft(customer=customer), delegate)
    prefer_indexes()

    def look() -> None:
        warnings_about(draft, delegate)
        alike_to(draft, delegate)

    plan = plans_of(look, where=where)
    assert index in plan
    assert not [each for each in others if each in plan.lower()]
