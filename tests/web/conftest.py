"""An approval that waits, and the person who decides it."""

import pytest
from django.test import Client
from time_machine import TimeMachineFixture

from agent_access.models import Connection
from invoicing.models import Customer, TaxRate, User
from invoicing.services.draft_input import Maker
from tests.approvals import A_MINUTE_LATER, Prepared, prepare
from tests.browsers import SignIn
from tests.factories import line_input, make_draft


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
