"""A pending approval, the person who decides it, and one who writes drafts."""

from typing import Any

import pytest
from django.test import Client
from time_machine import TimeMachineFixture

from agent_access.models import Connection
from invoicing.access import Permission
from invoicing.models import Company, Customer, TaxRate, User
from invoicing.services.drafts import ConnectionRef
from tests.approvals import A_MINUTE_LATER, Prepared, prepare
from tests.browsers import Browser, SignIn
from tests.factories import line_input, make_draft, make_staff


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Almost every page reads it."""


@pytest.fixture
def clock(time_machine: TimeMachineFixture) -> TimeMachineFixture:
    """A clock that stands still, a minute after the approval was prepared."""
    time_machine.move_to(A_MINUTE_LATER, tick=False)
    return time_machine


@pytest.fixture
def prepared(
    clock: TimeMachineFixture,
    delegate: User,
    customer: Customer,
    tax_rate: TaxRate,
    connection: Connection,
) -> Prepared:
    """An approval that the delegate can decide."""
    lines = (line_input(tax_rate_id=tax_rate.id),)
    draft = make_draft(user=delegate, customer=customer, lines=lines, notes="Thank you.")
    return prepare(draft, user=delegate, connection=ConnectionRef(connection.id, "Ledger agent"))


@pytest.fixture
def desk(sign_in: SignIn, delegate: User) -> Client:
    """The delegate's browser, signed in."""
    return sign_in(delegate)


@pytest.fixture
def strict(person: User) -> Client:
    """A browser whose forms need a valid CSRF token, as outside of tests."""
    browser = Browser(enforce_csrf_checks=True)
    browser.force_login(person)
    return browser


@pytest.fixture
def writer(company: Company) -> User:
    """Somebody who sees all customers and may write drafts, but not issue."""
    return make_staff(Permission.VIEW_DOCUMENT, Permission.VIEW_CUSTOMER, Permission.MANAGE)


@pytest.fixture
def writer_desk(sign_in: SignIn, writer: User) -> Client:
    """The writer's browser, signed in."""
    return sign_in(writer)


@pytest.fixture
def filled(customer: Customer, tax_rate: TaxRate) -> dict[str, Any]:
    """The form data of a draft: 1.5 x 10.50 less 10 %, and 19 % VAT."""
    return {
        "customer_id": str(customer.id),
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "currency_code": "EUR",
        "language": "de",
        "reference": "PO 7",
        "notes": "Thank you.\r\nSee you.",
        "line-TOTAL_FORMS": "1",
        "line-0-description": "Consulting",
        "line-0-quantity": "1.5",
        "line-0-unit": "h",
        "line-0-unit_price": "10.50",
        "line-0-discount_value": "10",
        "line-0-discount_type": "percent",
        "line-0-tax_rate_id": str(tax_rate.id),
    }


@pytest.fixture
def filled_twice(filled: dict[str, Any]) -> dict[str, Any]:
    """The same form with its line a second time, which it does not count yet."""
    return {name.replace("-0-", "-1-"): typed for name, typed in filled.items()} | filled
