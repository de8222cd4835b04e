"""People at their browsers, played by Django's test client."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from time_machine import TimeMachineFixture
from typing_extensions import override

from agent_access.models import Connection
from invoicing.models import Customer, TaxRate, User
from invoicing.services.draft_input import Maker
from tests.agents import HOST
from tests.approvals import A_MINUTE_LATER, Prepared, prepare
from tests.factories import PASSWORD, line_input, make_draft

SignIn = Callable[[User], Client]


class Browser(Client):
    """Speaks HTTPS, to the one address."""

    def __init__(self, **options: Any) -> None:
        super().__init__(headers={"host": HOST}, **options)

    @override
    def request(self, **request: Any) -> Any:
        return super().request(**request | {"wsgi.url_scheme": "https"})


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    """Signing in costs a tenth of a second on purpose; the tests do it often."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def browser() -> Client:
    """Somebody who has not signed in."""
    return Browser()


@pytest.fixture
def sign_in() -> SignIn:
    """Sign a person in without the form, which has tests of its own."""

    def sign_in_as(user: User) -> Client:
        browser = Browser()
        browser.force_login(user)
        return browser

    return sign_in_as


@pytest.fixture
def person(delegate: User) -> User:
    """Somebody with every permission, who has a password."""
    delegate.set_password(PASSWORD)
    delegate.save()
    return delegate


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
    """An approval that waits for the delegate."""
    lines = (line_input(tax_rate_id=tax_rate.id),)
    draft = make_draft(user=delegate, customer=customer, lines=lines, notes="Thank you.")
    return prepare(draft, user=delegate, maker=Maker(connection.id, "Ledger agent"))


@pytest.fixture
def desk(sign_in: SignIn, delegate: User) -> Client:
    """The delegate's browser, signed in."""
    return sign_in(delegate)
