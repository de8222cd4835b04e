from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from agent_access.approvals.models import ApprovalRequest, Decision
from invoicing.agent_tools.issue_approvals import ISSUE_APPROVAL
from invoicing.document_approvals import find_alike, find_last_rejection, read_asking
from invoicing.draft_fields import PersonInput
from invoicing.fixed_point import SCALE
from invoicing.models import Company, Customer, Document, DocumentType, TaxCategory
from invoicing.paper.formats import local_date
from invoicing.services import customer_history, issue_warnings
from invoicing.services.customer_history import find_history
from invoicing.services.document_facts import read_facts
from invoicing.services.drafts import create_draft
from invoicing.services.issue_warnings import (
    Check,
    Warnings,
    check_company,
    find_warnings,
)
from invoicing.services.issuing import issue_document
from tests.approvals import prepare
from tests.clocks import at
from tests.factories import (
    CustomerFactory,
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    make_issued,
)
from tests.plans import plans_of, prefer_indexes

NOW = datetime(2026, 3, 20, 9, 0, tzinfo=UTC)
NOTHING = Warnings(
    checks=[],
    watched_from=None,
    is_watched=False,
    is_future=False,
    is_other_year=False,
    is_due_late=False,
    last_issue_date=None,
)


def warnings_about(draft, user, *, now=NOW):
    [facts] = read_facts([draft])
    return find_warnings(draft, facts, today=local_date(now, user))


@pytest.fixture(autouse=True)
def seller(company):
    """A company that says what a line without tax means, as those of these tests have none."""
    Company.objects.update(untaxed_category=TaxCategory.OUTSIDE_SCOPE)


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


NOWHERE = dict.fromkeys(("street", "postcode", "city", "country"), "")
NOTHING_OF_COMPANY = [
    Check.COMPANY_STREET,
    Check.COMPANY_CITY,
    Check.COMPANY_COUNTRY,
    Check.COMPANY_TAX_NUMBER,
    Check.COMPANY_BANK,
]


def checks_of(delegate, customer, category="", **by_person: Any) -> list[Check]:
    """Return what is to be checked in a draft with a line at a rate of this category."""
    percentage = 19 * SCALE if category in {"", TaxCategory.STANDARD} else 0
    rate = TaxRateFactory.create(percentage_ten_thousandths=percentage, category=category)
    header = {name: by_person.pop(name) for name in ("currency_code",) if name in by_person}
    asked = draft_input(customer, line_input(tax_rate_id=rate.id), **header)
    draft = create_draft(delegate, asked, PersonInput(**by_person)).document
    found: Warnings = warnings_about(draft, delegate)
    return found.checks


def test_a_company_that_says_nothing_is_warned_of_all_of_it(delegate, customer):
    bare = {"vat_number": "", "iban": "", "untaxed_category": ""}
    Company.objects.update(**NOWHERE, **bare)
    Customer.objects.update(**NOWHERE, vat_number="")
    customer.refresh_from_db()
    assert [*check_company(Company.objects.get())] == [*NOTHING_OF_COMPANY, Check.TAXES_UNTAXED]
    untaxed = make_draft(user=delegate, customer=customer)
    assert warnings_about(untaxed, delegate).checks == [
        *NOTHING_OF_COMPANY,
        Check.CUSTOMER_ADDRESS,
        Check.TAXES_UNTAXED,
    ]
    assert checks_of(delegate, customer) == [
        *NOTHING_OF_COMPANY,
        Check.CUSTOMER_ADDRESS,
        Check.TAXES_UNKNOWN,
    ]
    unsaid = [Check.TAXES_UNKNOWN, Check.TAXES_UNTAXED]
    assert [*check_company(Company.objects.get())] == [*NOTHING_OF_COMPANY, *unsaid]


def test_a_company_in_germany_may_have_a_tax_number_instead(delegate, customer):
    Company.objects.update(vat_number="", tax_number="12/345/67890")
    assert checks_of(delegate, customer, "S") == []


def test_a_mistyped_vat_number_is_told(delegate, customer):
    Company.objects.update(vat_number="DE136695977")
    Customer.objects.update(vat_number="NL004495445B02x")
    customer.refresh_from_db()
    wrong = [Check.COMPANY_VAT_NUMBER, Check.CUSTOMER_VAT_NUMBER]
    assert checks_of(delegate, customer, "S") == wrong


def test_a_customer_whose_country_is_unknown_is_told(delegate, customer):
    Customer.objects.update(country="", vat_number="")
    customer.refresh_from_db()
    assert checks_of(delegate, customer, "Z") == [Check.CUSTOMER_COUNTRY]
    assert checks_of(delegate, customer, "G") == [Check.CUSTOMER_COUNTRY]


def test_a_small_business_charges_no_tax_and_need_not_say_why(delegate, customer):
    Company.objects.update(is_small_business=True, untaxed_category="")
    assert checks_of(delegate, customer, "S") == [Check.DRAFT_SMALL_BUSINESS]
    assert warnings_about(make_draft(customer=customer), delegate).checks == []
    assert [*check_company(Company.objects.get())] == []


@pytest.mark.parametrize("category", ["AE", "K"])
def test_the_vat_number_of_a_buyer_who_owes_the_tax_is_wanted(delegate, customer, category):
    Customer.objects.update(vat_number="")
    customer.refresh_from_db()
    found = checks_of(delegate, customer, category, supply_date="2026-03-01")
    assert found == [Check.CUSTOMER_NO_VAT_NUMBER]


K, G, AE = Check.DRAFT_INTRA_COMMUNITY, Check.DRAFT_EXPORT, Check.DRAFT_REVERSE_CHARGE


@pytest.mark.parametrize(
    ("category", "seller", "buyer", "delivery", "found"),
    [
        ("K", "DE", "NL", "", []),
        ("K", "DE", "DE", "", [K]),
        ("K", "DE", "CH", "", [K]),
        ("K", "DE", "CH", "AT", []),
        ("K", "DE", "NL", "DE", [K]),
        ("K", "DE", "MC", "", []),
        ("K", "FR", "MC", "", [K]),
        ("K", "CH", "NL", "", [K]),
        ("K", "DE", "GB", "", [K]),
        ("K", "DE", "XI", "", []),
        ("G", "DE", "CH", "", []),
        ("G", "DE", "GB", "", []),
        ("G", "DE", "XI", "", [G]),
        ("G", "DE", "NL", "", [G]),
        ("G", "DE", "NL", "NO", []),
        ("G", "DE", "US", "FR", [G]),
        ("G", "GB", "DE", "", []),
        ("G", "GB", "IM", "", [G]),
        ("AE", "DE", "NL", "", []),
        ("AE", "DE", "DE", "", []),
        ("AE", "DE", "CH", "", [AE]),
        ("AE", "GB", "GB", "", []),
        ("Z", "DE", "DE", "", []),
        ("E", "DE", "DE", "", []),
        ("O", "DE", "US", "", []),
    ],
)
def test_a_category_that_cannot_fit_the_countries_is_told(  # noqa: PLR0917  a table
    delegate, customer, monkeypatch, category, seller, buyer, delivery, found
):
    """A customer in XI is one in GB with a VAT number of Northern Ireland."""
    monkeypatch.setattr(issue_warnings, "is_vat_number_valid", lambda *_: True)
    Company.objects.update(country=seller, vat_number=f"{seller}123")
    Customer.objects.update(
        country=buyer.replace("XI", "GB"), vat_number=f"{buyer.replace('MC', 'FR')}123"
    )
    customer.refresh_from_db()
    by_person = {"supply_date": "2026-03-01", "delivery_country": delivery}
    assert checks_of(delegate, customer, category, **by_person) == found


def test_the_date_of_an_intra_community_supply_is_wanted_and_an_odd_one_told(delegate, customer):
    assert checks_of(delegate, customer, "K") == [Check.DRAFT_NO_SUPPLY_DATE]
    assert checks_of(delegate, customer, "K", supply_date="2026-02-27") == []
    odd = checks_of(delegate, customer, "S", supply_date="2036-03-02")
    assert odd == [Check.DRAFT_SUPPLY_DATE]


def test_tax_in_another_currency_than_the_companys_wants_an_exchange_rate(delegate, customer):
    in_dollars = {"currency_code": "USD"}
    rate = {
        "exchange_rate": "1.085",
        "exchange_rate_base": "EUR",
        "exchange_rate_date": "2026-03-02",
    }
    assert checks_of(delegate, customer, "S", **in_dollars) == [Check.DRAFT_EXCHANGE_RATE]
    assert checks_of(delegate, customer, "S", **in_dollars, **rate) == []
    assert checks_of(delegate, customer, "E", **in_dollars) == []


def test_a_correction_is_not_warned_of_what_its_invoice_froze(delegate, customer):
    Company.objects.update(**NOWHERE, vat_number="", iban="", untaxed_category="")
    original = issue(customer)
    note = make_draft(customer=customer, document_type=DocumentType.CREDIT_NOTE)
    assert warnings_about(note, delegate).checks != []
    Document.objects.filter(pk=note.pk).update(corrects=original)
    corrected = Document.objects.get(pk=note.pk)
    assert warnings_about(corrected, delegate).checks == []


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
    assert find_history(delegate, draft, now=NOW).same_total == document


def test_nor_if_it_is_stale_by_its_customer_alone(delegate, customer, draft):
    ask(make_draft(customer=customer), delegate)
    Customer.objects.update(street="Another Lane 1")
    draft.refresh_from_db()
    assert alike_to(draft, delegate) is None


def test_what_the_owner_watches_is_told(delegate, customer, draft):
    for least, told in ((10000, 10000), (10001, None), (0, 0)):
        Company.objects.update(watched_amounts={"EUR": least, "USD": 1})
        assert warnings_about(draft, delegate).watched_from == told
    Company.objects.update(watched_amounts={"USD": 1})
    assert warnings_about(draft, delegate) == NOTHING
    Customer.objects.update(is_watched=True)
    draft.customer.refresh_from_db()
    assert warnings_about(draft, delegate).is_watched


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


# What each query reads, the index that serves it, and what its plan must not have.
INDEXES = {
    '"issued_at" DESC': (("document_by_customer", "document_by_issued_at"), ("pkey", "autoindex")),
    '"description" IN': (("document_id",), ("line_pkey", "scan invoices_line", "seq scan")),
    '"decided_at" DESC': (("approval_by_target",), ("seq scan",)),
    '"id" <=': (("approval_by_connection",), ("seq scan",)),
    '"executed_at" IS NULL': (("approval_by_expiry",), ("document_by_customer",)),
    '"series_value" DESC': (("series",), ("sort", "b-tree")),
}


def test_no_warning_costs_a_look_at_all_documents(delegate, customer, draft, monkeypatch):
    monkeypatch.setattr(customer_history, "COMPARED", 2)
    # What others got is newer and far more, so that no other index could be as cheap.
    for buyer in [customer] * 3 + CustomerFactory.create_batch(3) * 10:
        issue(buyer)
    asked = ask(make_draft(customer=customer), delegate)
    prefer_indexes()

    def look() -> None:
        warnings_about(draft, delegate)
        find_history(delegate, draft, now=NOW)
        alike_to(draft, delegate)
        find_last_rejection(delegate, draft)
        read_asking(asked)

    for where, (indexes, others) in INDEXES.items():
        plan = plans_of(look, where=where)
        assert any(each in plan for each in indexes), where
        assert not [each for each in others if each in plan.lower()], where
