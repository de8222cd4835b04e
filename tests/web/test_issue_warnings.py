"""What the pages of approving and issuing tell a person to check, in exact words."""

import re
from datetime import time, timedelta
from html import unescape
from typing import Any

import pytest

from agent_access.approvals.models import Decision
from agent_access.models.connections import Connection
from invoicing.fixed_point import SCALE
from invoicing.models import Company, Customer, TaxCategory, TaxRate, WorkingHours
from invoicing.services.drafts import ConnectionRef, update_draft
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, Prepared, prepare
from tests.factories import (
    TaxRateFactory,
    draft_input,
    line_input,
    make_draft,
    make_issued,
)
from tests.web.reviews import path_of, read

pytestmark = pytest.mark.sqlite  # what is shown was read before, on both databases

LONG_AGO = PREPARED_AT - timedelta(days=60)
FIRST = "No invoice has been issued to this customer yet."


def checks_of(desk, path) -> list[str]:
    """Return what the page asks the person to check, a text for each item of the lists."""
    page = desk.get(path).content.decode()
    if "Please check:" not in page:
        return []
    notice = re.split(
        r'<article class="card paper"|<div class="field">', page.split("Please check:")[1]
    )[0]
    items = re.findall(r"<li>(.*?)(?=</?ul|</?li>|<details>)", notice, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]*>", "", item)).split()) for item in items]


@pytest.fixture
def rate(tax_rate: TaxRate) -> TaxRate:
    TaxRate.objects.update(category=TaxCategory.STANDARD)
    return tax_rate


@pytest.fixture
def old_connection(connection) -> ConnectionRef:
    Connection.objects.update(created_at=LONG_AGO)
    return ConnectionRef(connection.id, "Ledger agent")


@pytest.fixture
def ask(clock, delegate, customer, rate, old_connection):
    """Return a function that makes a draft with such lines, and asks to issue it."""

    def ask_for(*lines: Any, **header: Any) -> Prepared:
        asked = tuple(line_input(**{"tax_rate_id": rate.id} | each) for each in lines or ({},))
        draft = make_draft(user=delegate, customer=customer, lines=asked, **header)
        return prepare(draft, user=delegate, connection=old_connection)

    return ask_for


def issue(customer, *lines: Any, issued_at=LONG_AGO, **header: Any):
    asked = tuple(line_input(**each) for each in lines)
    return make_issued(customer=customer, lines=asked, issued_at=issued_at, **header)


@pytest.fixture
def known(customer, rate):
    """An invoice that the customer got long ago, so that another is nothing unusual."""
    return issue(customer, {"tax_rate_id": rate.id, "quantity": SCALE})


def test_a_usual_invoice_has_no_warning(desk, ask, known):
    asked = ask()
    assert checks_of(desk, path_of(asked)) == []
    assert checks_of(desk, f"/documents/{asked.document.id}/issue") == []


def test_the_first_invoice_to_a_customer_is_told(desk, ask):
    assert checks_of(desk, path_of(ask())) == [FIRST]


def test_an_amount_far_above_what_the_customer_got_is_told_with_the_figures(
    desk, ask, customer, rate
):
    line = {"tax_rate_id": rate.id, "quantity": SCALE, "unit_price": 1000}
    for price in (1000, 1200, 3000):
        issue(customer, line | {"description": f"Part {price}", "unit_price": price})
    [found] = checks_of(desk, path_of(ask()))
    assert found == (
        "The total, €119.00, is more than three times the highest of the last 3 invoices to this"
        " customer in EUR, which is €35.70. Their median is €14.28."
    )


def test_an_invoice_of_the_same_total_or_lines_is_linked(desk, ask, customer, known, rate):
    asked = ask()
    lately = PREPARED_AT - timedelta(days=2)
    total = issue(
        customer, {"description": "Other", "quantity": SCALE, "unit_price": 11900}, issued_at=lately
    )
    lines = issue(customer, {"tax_rate_id": rate.id, "unit_price": 5100}, issued_at=lately)
    found = checks_of(desk, path_of(asked))
    issued_on = "was issued to this customer on February 28, 2026, 09:00 UTC:"
    assert found[:2] == [
        f"An invoice with the same total {issued_on} {total.number}.",
        f"An invoice with the same lines {issued_on} {lines.number}.",
    ]
    page = desk.get(path_of(asked)).content.decode()
    for each in (total, lines):
        assert f'<a href="/documents/{each.id}">{each.number}</a>' in page


def test_lines_at_other_prices_or_rates_are_named_at_most_five(desk, ask, customer, rate):
    reduced = TaxRateFactory.create(percentage_ten_thousandths=7 * SCALE, category="S")
    numbered = [{"description": f"Part {number}"} for number in range(1, 9)]
    old = issue(
        customer,
        numbered[0] | {"tax_rate_id": rate.id, "unit_price": 4500},
        numbered[1] | {"tax_rate_id": reduced.id},
        numbered[2] | {"unit_price": 4500},
        *(each | {"tax_rate_id": rate.id} for each in numbered[3:4]),
        *(each | {"tax_rate_id": reduced.id} for each in numbered[4:]),
    )
    of = f"on {old.number}:"
    assert checks_of(desk, path_of(ask(*numbered))) == [
        "These lines differ from the last invoice with the same description:",
        f"Line 1: €50.00 instead of €45.00 {of} “Part 1”",
        f"Line 2: 19% tax instead of 7% tax {of} “Part 2”",
        f"Line 3: €50.00 instead of €45.00, 19% tax instead of no tax {of} “Part 3”",
        f"Line 5: 19% tax instead of 7% tax {of} “Part 5”",
        f"Line 6: 19% tax instead of 7% tax {of} “Part 6”",
        "and 2 more",
    ]


def test_what_was_rejected_before_is_told_with_the_reason_and_what_changed(  # noqa: PLR0917  fixtures
    desk, ask, delegate, customer, known, rate, old_connection
):
    asked = ask()
    asked.decide(Decision.REJECTED, reason="Too much.")
    again = prepare(asked.document, user=delegate, connection=old_connection, now=A_MINUTE_LATER)
    told = "You rejected the issue of this draft on March 2, 2026, 09:01 UTC."
    same = f"{told} Nothing on it has changed since. Your reason: “Too much.”"
    assert checks_of(desk, path_of(again)) == [same]
    assert checks_of(desk, f"/documents/{asked.document.id}/issue") == [same]
    changed = draft_input(
        customer, line_input(tax_rate_id=rate.id, quantity=3 * SCALE), due_date=PREPARED_AT.date()
    )
    draft = update_draft(delegate, asked.document.pk, changed, lock_version=1).document
    latest = prepare(draft, user=delegate, connection=old_connection, now=A_MINUTE_LATER)
    [found] = checks_of(desk, path_of(latest))
    assert found == f"{told} It has changed since. Your reason: “Too much.”"
    page = read(desk.get(path_of(latest)))
    assert "Due date before: April 1, 2026 now: March 2, 2026" in page
    by_hand = read(desk.get(f"/documents/{asked.document.id}/issue"))
    assert "Due date April 1, 2026 March 2, 2026" in by_hand
    assert "Version of the draft" not in page


def test_what_a_colleague_rejected_is_not_told(desk, ask, known, colleague):
    asked = ask()
    prepare(asked.document, user=colleague).decide(Decision.REJECTED, reason="Secret.")
    assert checks_of(desk, path_of(asked)) == []


def test_an_agent_that_asks_very_often_is_told(desk, ask, known, delegate, old_connection):
    draft = ask().document
    moments = [PREPARED_AT + timedelta(seconds=number) for number in range(1, 12)]
    *_, tenth, last = [
        prepare(draft, user=delegate, connection=old_connection, now=moment) for moment in moments
    ][:10]
    assert checks_of(desk, path_of(tenth)) == []
    assert checks_of(desk, path_of(last)) == [
        "This agent asked for an approval 11 times within 10 minutes."
    ]


def test_a_connection_younger_than_a_day_is_told(desk, ask, known):
    asked = ask()
    for age, told in ((timedelta(days=1), []), (timedelta(hours=23), ["March 1, 2026, 10:00"])):
        Connection.objects.update(created_at=PREPARED_AT - age)
        assert checks_of(desk, path_of(asked)) == [
            f"This agent was connected less than a day before it asked: on {moment} UTC."
            for moment in told
        ]


@pytest.mark.parametrize(
    ("start", "end", "zone", "told"),
    [
        (time(9), time(17), "UTC", ""),
        (time(8), time(9), "UTC", ""),
        (time(9, 1), time(17), "UTC", "Monday, March 2, 2026, 09:00 UTC"),
        (time(9), time(17), "America/New_York", "Monday, March 2, 2026, 04:00 EST"),
        (time(0), time(23, 59), "Pacific/Auckland", ""),
    ],
)
def test_what_is_asked_outside_the_persons_working_hours_is_told(  # noqa: PLR0917  a table
    desk, ask, known, delegate, start, end, zone, told
):
    type(delegate).objects.filter(pk=delegate.pk).update(time_zone=zone)
    asked = ask()
    WorkingHours.objects.create(person=delegate, weekday=0, start_time=start, end_time=end)
    expected = [f"This agent asked outside your working hours: on {told}."] if told else []
    assert checks_of(desk, path_of(asked)) == expected
    assert checks_of(desk, f"/documents/{asked.document.id}/issue") == []


def test_the_owner_has_amounts_and_customers_always_warned_of(desk, ask, known):
    Company.objects.update(watched_amounts={"EUR": 11900})
    Customer.objects.update(is_watched=True)
    assert checks_of(desk, path_of(ask())) == [
        "The owner wants every document of €119.00 or more to be checked.",
        "The owner wants every document for this customer to be checked.",
    ]


def test_the_weightiest_seven_stand_before_the_others(desk, ask, delegate, connection):
    Company.objects.update(street="", iban="", watched_amounts={"EUR": 1})
    Customer.objects.update(is_watched=True)
    Connection.objects.update(created_at=PREPARED_AT)
    WorkingHours.objects.create(person=delegate, weekday=6, start_time=time(9), end_time=time(17))
    asked = ask(issue_date=PREPARED_AT.date() + timedelta(days=5))
    Connection.objects.update(created_at=PREPARED_AT)
    found = checks_of(desk, path_of(asked))
    assert len(found) == 8
    assert "The owner wants every document of" in found[0]
    assert found[-1] == "The bank details of your company are missing."
    page = desk.get(path_of(asked)).content.decode()
    shown, hidden = re.split(r"<summary>\s*and 1 more\s*</summary>", page)
    assert found[-2] in shown
    assert found[-1] in hidden
