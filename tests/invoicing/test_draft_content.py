"""What is wrong with a draft is named all at once, and nothing is written."""

from typing import Any
from uuid import uuid4

import pytest

from agent_access.errors import FieldProblem
from invoicing.errors import DraftInvalidError
from invoicing.models import Customer
from invoicing.services.drafts import create_draft, preview_draft, update_draft
from tests.factories import (
    CustomerFactory,
    TaxRateFactory,
    UserFactory,
    draft_input,
    line_input,
    make_draft,
    make_staff,
)
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db


def problems_of(call, *args: Any, **kwargs: Any) -> tuple[FieldProblem, ...]:
    """Return what the call finds wrong, having made sure that it changed nothing."""
    before = take_snapshot()
    with pytest.raises(DraftInvalidError) as caught:
        call(*args, **kwargs)
    assert take_snapshot() == before
    return caught.value.problems


def paths_of(call, *args: Any, **kwargs: Any) -> list[str]:
    return [problem.field for problem in problems_of(call, *args, **kwargs)]


def test_invalid_input_is_named_before_a_conflict() -> None:
    user, document = make_staff(), make_draft()
    draft = draft_input(document.customer, currency_code="XXX")
    assert paths_of(update_draft, user, document.pk, draft, lock_version=9) == ["currency_code"]


def test_a_missing_an_inactive_and_a_hidden_customer_look_the_same() -> None:
    inactive = CustomerFactory.create(is_active=False)
    hidden = CustomerFactory.create()
    staff, manager = make_staff(), UserFactory.create()
    missing = draft_input(Customer(id=uuid4()))
    answers = [
        problems_of(create_draft, staff, missing),
        problems_of(create_draft, staff, draft_input(inactive)),
        problems_of(create_draft, manager, draft_input(hidden)),
    ]
    expected = FieldProblem("customer_id", "is not an active customer within reach")
    assert answers == [(expected,)] * 3


def test_all_problems_are_named_at_once() -> None:
    inactive_rate = TaxRateFactory.create(is_active=False)
    draft = draft_input(
        CustomerFactory.create(is_active=False),
        line_input(tax_rate_id=uuid4()),
        line_input(),
        line_input(tax_rate_id=inactive_rate.id, unit_price=10**18 - 1),
        currency_code="XAU",
        language="tlh",
    )
    expected = [
        "currency_code",
        "customer_id",
        "language",
        "line_items",
        "line_items.0.tax_rate_id",
        "line_items.2.tax_rate_id",
    ]
    for call in (preview_draft, create_draft):
        assert sorted(paths_of(call, make_staff(), draft)) == expected


def test_an_amount_over_18_digits_is_a_problem_of_the_lines() -> None:
    user, customer = make_staff(), CustomerFactory.create()
    draft = draft_input(customer, line_input(unit_price=10**18 - 1))
    assert problems_of(create_draft, user, draft) == (
        FieldProblem("line_items", "lead to an amount of more than 18 digits"),
    )
