"""What is wrong with a draft is named all at once, and nothing is written."""

from dataclasses import replace
from datetime import date
from typing import Any
from uuid import uuid4

import pytest

from invoicing.errors import DraftInvalidError, FieldProblem
from invoicing.services.draft_input import DraftInput
from invoicing.services.drafts import create_draft, preview_draft, update_draft
from invoicing.totals import DiscountType
from tests.factories import (
    DUE_DATE,
    ISSUE_DATE,
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
    return [problem.path for problem in problems_of(call, *args, **kwargs)]


def test_invalid_input_is_named_before_a_conflict() -> None:
    user, document = make_staff(), make_draft()
    draft = draft_input(document.customer, currency_code="XXX")
    assert paths_of(update_draft, user, document.pk, draft, lock_version=9) == ["currency_code"]


def test_a_missing_an_inactive_and_a_hidden_customer_look_the_same() -> None:
    inactive = CustomerFactory.create(is_active=False)
    hidden = CustomerFactory.create()
    staff, manager = make_staff(), UserFactory.create()
    missing = replace(draft_input(hidden), customer_id=uuid4())
    answers = [
        problems_of(create_draft, staff, missing),
        problems_of(create_draft, staff, draft_input(inactive)),
        problems_of(create_draft, manager, draft_input(hidden)),
    ]
    expected = FieldProblem("customer_id", "is not an active customer within reach")
    assert answers == [(expected,)] * 3


def test_all_problems_are_named_at_once() -> None:
    inactive_rate = TaxRateFactory.create(is_active=False)
    draft = DraftInput(
        customer_id=uuid4(),
        currency_code="XAU",
        issue_date=date(2026, 3, 2),
        due_date=date(2026, 3, 1),
        language="tlh",
        notes="\0",
        reference="r" * 101,
        line_items=(
            line_input(tax_rate_id=uuid4()),
            line_input(),
            line_input(tax_rate_id=inactive_rate.id, description=" "),
            line_input(discount_type=DiscountType.PERCENT, discount_value=10_001),
            line_input(discount_type=DiscountType.AMOUNT, discount_value=10_001, unit="u" * 21),
            line_input(quantity=0, unit_price=-1),
            line_input(discount_type=DiscountType.AMOUNT),
            line_input(discount_type=DiscountType.AMOUNT, discount_value=-1),
        ),
    )
    expected = [
        "currency_code",
        "customer_id",
        "due_date",
        "language",
        "line_items.0.tax_rate_id",
        "line_items.2.description",
        "line_items.2.tax_rate_id",
        "line_items.3.discount_value",
        "line_items.4.discount_value",
        "line_items.4.unit",
        "line_items.5.quantity",
        "line_items.5.unit_price",
        "line_items.6.discount_value",
        "line_items.7.discount_value",
        "notes",
        "reference",
    ]
    for call in (preview_draft, create_draft):
        assert sorted(paths_of(call, make_staff(), draft)) == expected


@pytest.mark.parametrize("number_of_lines", [0, 101])
def test_a_document_has_1_to_100_lines(number_of_lines) -> None:
    user, customer = make_staff(), CustomerFactory.create()
    draft = replace(draft_input(customer), line_items=(line_input(),) * number_of_lines)
    assert paths_of(create_draft, user, draft) == ["line_items"]


def test_an_amount_over_18_digits_is_a_problem_of_the_lines() -> None:
    user, customer = make_staff(), CustomerFactory.create()
    draft = draft_input(customer, line_input(unit_price=10**18 - 1))
    assert problems_of(create_draft, user, draft) == (
        FieldProblem("line_items", "lead to an amount of more than 18 digits"),
    )


def test_no_problem_repeats_what_was_submitted() -> None:
    user = make_staff()
    draft = DraftInput(
        customer_id=uuid4(),
        currency_code="SECRET",
        issue_date=ISSUE_DATE,
        due_date=DUE_DATE,
        language="SECRET",
        line_items=(line_input(description="SECRET\0"),),
    )
    for problem in problems_of(create_draft, user, draft):
        assert "SECRET" not in problem.problem
