"""Which acts have to be signed: by the rules of the moment at which they are approved."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agent_access.approvals.models import ApprovalRequest
from agent_access.passkeys.models import SigningRules
from invoicing.models import Document
from tests.factories import make_draft
from tests.signing import (
    ask,
    assert_not_executable,
    delete_signatures,
    demand,
    nothing_is_approved,
)

MINUTE = timedelta(minutes=1)


def test_what_is_demanded_when_it_is_approved_counts(agent, desk, draft_body, soft):
    asked = ask(agent, desk, draft_body)
    demand(always=True)
    with nothing_is_approved(asked, "missing"):
        asked.approve()
    assert asked.sign(soft).status_code == 302
    assert asked.execute().status == 200


def test_a_rule_of_today_does_not_undo_what_was_approved_before_it(agent, desk, draft_body):
    asked = ask(agent, desk, draft_body)
    asked.approve()
    demand(always=True)
    assert asked.execute().status == 200


def test_what_was_demanded_stays_demanded_when_the_rule_is_gone(asked, soft):
    asked.sign(soft)
    SigningRules.objects.update(always=False)
    delete_signatures()
    assert_not_executable(asked)


@pytest.mark.parametrize("is_demanded", [False, True])
def test_what_was_approved_before_demands_were_kept_needs_what_is_demanded_now(
    agent, desk, draft_body, is_demanded
):
    asked = ask(agent, desk, draft_body)
    now = timezone.now()
    ApprovalRequest.objects.update(decision="approved", decided_at=now, demand=None)
    if is_demanded:
        demand(always=True)
        assert_not_executable(asked)
    else:
        assert asked.execute().status == 200


def test_what_one_connection_does_is_signed(agent, connection, desk, draft_body, connect, delegate):
    demand(connections=[str(connection.pk)])
    asked = ask(agent, desk, draft_body)
    with nothing_is_approved(asked, "missing"):
        asked.approve()
    _, another = connect(delegate)
    assert ask(another, desk, draft_body).approve().status_code == 302


def test_what_concerns_one_party_is_signed(agent, desk, draft_body, customer):
    asked = ask(agent, desk, draft_body)
    demand(parties=[str(customer.pk)])
    with nothing_is_approved(asked, "missing"):
        asked.approve()
    demand(parties=[str(asked.approval.pk)])
    assert asked.approve().status_code == 302


def body_of(draft_body, unit_price: str, currency: str = "EUR"):
    line = {"description": "Work", "quantity": "1", "unit_price": unit_price, "unit": "h"}
    return {**draft_body, "currency_code": currency, "line_items": [line]}


def test_up_to_the_limit_of_its_currency_nothing_is_signed(agent, desk, draft_body):
    demand(limits={"EUR": "100.00"})
    assert ask(agent, desk, body_of(draft_body, "10000")).approve().status_code == 302


@pytest.mark.parametrize(
    ("price", "currency"), [("10001", "EUR"), ("1", "USD"), ("0", "USD"), ("1", "JPY")]
)
def test_above_it_and_in_a_currency_without_one_it_is(agent, desk, draft_body, price, currency):
    demand(limits={"EUR": "100.00"})
    asked = ask(agent, desk, body_of(draft_body, price, currency))
    with nothing_is_approved(asked, "missing"):
        asked.approve()


@pytest.mark.parametrize("is_executed", [False, True])
def test_parts_of_an_amount_count_together(agent, desk, draft_body, is_executed):
    demand(limits={"EUR": "100.00"})
    first = ask(agent, desk, body_of(draft_body, "6000"), key="first")
    assert first.approve().status_code == 302
    if is_executed:
        assert first.execute().status == 200
    second = ask(agent, desk, body_of(draft_body, "4001"), key="second")
    assert second.approve().status_code == 422
    assert second.approval.decision == ""
    third = ask(agent, desk, body_of(draft_body, "4000"), key="third")
    assert third.approve().status_code == 302


def test_parts_in_several_currencies_use_up_one_limit(agent, desk, draft_body):
    demand(limits={"EUR": "100.00", "USD": "200.00"})
    assert ask(agent, desk, body_of(draft_body, "6000"), key="1").approve().status_code == 302
    dollars = body_of(draft_body, "8001", "USD")
    assert ask(agent, desk, dollars, key="2").approve().status_code == 422
    dollars = body_of(draft_body, "8000", "USD")
    assert ask(agent, desk, dollars, key="3").approve().status_code == 302


def test_what_was_done_a_day_ago_counts_no_more(
    agent, desk, draft_body, time_machine, sign_in, delegate
):
    demand(limits={"EUR": "100.00"})
    first = ask(agent, desk, body_of(draft_body, "10000"), key="1")
    first.approve()
    first.execute()
    time_machine.shift(timedelta(hours=23, minutes=59))
    desk = sign_in(delegate)
    assert ask(agent, desk, body_of(draft_body, "1"), key="2").approve().status_code == 422
    time_machine.shift(2 * MINUTE)
    assert ask(agent, desk, body_of(draft_body, "1"), key="3").approve().status_code == 302


def test_what_another_person_did_does_not_count(agent, desk, draft_body, customer, colleague):
    demand(limits={"EUR": "100.00"})
    make_draft(user=colleague, customer=customer)
    Document.objects.update(currency_code="EUR")
    assert ask(agent, desk, body_of(draft_body, "10000")).approve().status_code == 302
