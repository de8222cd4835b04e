from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agent_access.approvals.engine import withdraw
from agent_access.approvals.errors import ApprovalStateError
from agent_access.approvals.inbox import PAGE_LENGTH, cards_for, read_cards, read_others
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.approvals.states import ApprovalState
from agent_access.models import AuditEvent
from invoicing.document_approvals import read_pending_of
from invoicing.models import Customer, Document
from invoicing.services.drafts import ConnectionRef
from invoicing.services.issuing import issue_document
from tests.administration import ORIGIN
from tests.approvals import A_MINUTE_LATER, TEN_MINUTES_LATER, prepare
from tests.clocks import at
from tests.factories import make_connection_ref, make_draft
from tests.plans import plans_of, prefer_indexes
from tests.threads import in_threads, run_together


def ids(page: Any) -> list[Any]:
    return [each.approval.id for each in page[0]]


def read_first(user: Any, *, now: Any = A_MINUTE_LATER) -> tuple[list[Any], list[Any]]:
    """Return the IDs of the first page: the open ones, and the others."""
    return (
        ids(read_cards(user, after=None, now=now)),
        ids(read_others(user, before=None, now=now)),
    )


@pytest.mark.parametrize("change", ["decided", "expired", "draft changed", "draft issued"])
def test_what_cannot_be_decided_any_more_is_not_open(delegate, draft, change):
    prepared, now = prepare(draft, user=delegate), A_MINUTE_LATER
    assert read_first(delegate, now=now) == ([prepared.approval.id], [])
    if change == "decided":
        prepared.decide()
    elif change == "expired":
        now = TEN_MINUTES_LATER
    elif change == "draft changed":
        Document.objects.update(lock_version=2)
    else:
        issue_document(draft, clock=at(now))

    assert read_first(delegate, now=now) == ([], [prepared.approval.id])


def test_one_that_is_stale_by_its_customer_alone_waits_as_stale_until_it_expires(delegate, draft):
    """The draft's row tells nothing of it, and no query for a count reads all facts."""
    prepared = prepare(draft, user=delegate)
    Customer.objects.filter(pk=draft.customer_id).update(name="Acme Limited")

    [waiting], _ = read_cards(delegate, after=None, now=A_MINUTE_LATER)
    assert (waiting.approval.id, waiting.state) == (prepared.approval.id, ApprovalState.STALE)
    assert read_first(delegate, now=TEN_MINUTES_LATER) == ([], [prepared.approval.id])


def test_the_number_of_queries_does_not_grow(delegate, customer):
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            read_cards(delegate, after=None, now=A_MINUTE_LATER)
            read_others(delegate, before=None, now=A_MINUTE_LATER)
        return len(captured)

    delegate.has_perm("invoices.view_document")
    prepare(make_draft(user=delegate, customer=customer), user=delegate)
    few = count()
    for _ in range(29):
        prepare(make_draft(user=delegate, customer=customer), user=delegate)
    assert cards_for(delegate, now=A_MINUTE_LATER).count() == 30
    assert count() == few


def test_what_waited_before_costs_the_count_nothing(delegate, draft):
    for _ in range(30):
        prepare(draft, user=delegate)
    prefer_indexes()
    plan = plans_of(cards_for(delegate, now=TEN_MINUTES_LATER).count, where="COUNT(*)")
    assert "approval_by_expiry" in plan


def test_what_is_asked_again_costs_no_page_anything(delegate, draft):
    """What a newer request replaced is not even in the index that all lists are read by."""
    maker = make_connection_ref()
    for _ in range(30):
        prepare(draft, user=delegate, connection=maker)
    [index] = [
        each for each in ApprovalRequest._meta.indexes if each.name == "agent_approval_by_expiry"
    ]
    assert ApprovalRequest.objects.filter(index.condition).count() == 1
    prefer_indexes()
    read = partial(read_others, delegate, before=None, now=TEN_MINUTES_LATER)
    assert "approval_by_expiry" in plans_of(read, where="DESC")
    assert read_first(delegate) == ([ApprovalRequest.objects.latest("pk").pk], [])


def test_a_draft_names_a_page_of_those_that_ask_for_it_the_newest_first(delegate, draft):
    made = [prepare(draft, user=delegate).approval.id for _ in range(30)]
    asked = read_pending_of(delegate, draft, now=A_MINUTE_LATER)
    assert [each.approval.id for each in asked] == made[:-26:-1]


def test_stale_requests_hide_no_newer_one_on_the_page_of_their_draft(delegate, draft):
    for _ in range(PAGE_LENGTH + 1):
        prepare(draft, user=delegate)
    Customer.objects.filter(pk=draft.customer_id).update(name="Acme Limited")
    fresh = prepare(Document.objects.get(pk=draft.pk), user=delegate)
    asked = read_pending_of(delegate, draft, now=A_MINUTE_LATER)
    assert [each.approval.id for each in asked] == [fresh.approval.id]


@pytest.mark.django_db(transaction=True)
def test_requests_prepared_at_the_same_moment_are_one_card(delegate, draft):
    maker = make_connection_ref()
    in_threads(lambda _: prepare(draft, user=delegate, connection=maker), range(8))
    [card], _ = read_cards(delegate, after=None, now=A_MINUTE_LATER)
    assert card.approval.repeats == 7
    assert ApprovalRequest.objects.standing().count() == 1


def test_a_rejection_is_one_of_all_by_which_the_agent_asks_for_the_same(delegate, draft):
    maker = make_connection_ref("Ledger agent")
    before = prepare(draft, user=delegate, connection=maker)
    again = prepare(draft, user=delegate, connection=maker)
    another = prepare(draft, user=delegate)
    again.decide(Decision.REJECTED)
    assert before.read().state == ApprovalState.REJECTED
    assert another.read().state == ApprovalState.PENDING


@pytest.mark.django_db(transaction=True)
def test_requests_are_prepared_while_others_for_the_same_are_rejected(delegate, draft):
    """Neither waits in a circle: who decides locks requests before the draft."""
    maker = make_connection_ref()
    made = [prepare(draft, user=delegate, connection=maker) for _ in range(4)]

    def act(number: int) -> None:
        if number % 2:
            prepare(draft, user=delegate, connection=maker)
        else:
            with suppress(ApprovalStateError):
                made[number // 2].decide(Decision.REJECTED)

    in_threads(act, range(8))
    undecided = ApprovalRequest.objects.filter(decision="")
    cards, _ = read_cards(delegate, after=None, now=A_MINUTE_LATER)
    assert ApprovalRequest.objects.count() == 8
    assert {each.approval.pk for each in cards} <= set(undecided.values_list("pk", flat=True))
    assert bool(cards) == undecided.exists()


@pytest.mark.django_db(transaction=True)
def test_of_withdrawing_and_executing_at_once_one_happens(delegate, draft, connect):
    connection, _ = connect(delegate)
    maker, now = ConnectionRef(connection.id, "Ledger agent"), timezone.now()
    prepared = prepare(draft, user=delegate, connection=maker, now=now)
    prepared.decide(now=now)

    def take_back() -> str:
        try:
            withdraw(delegate, prepared.approval.pk, origin=ORIGIN)
        except ApprovalStateError as refused:
            return f"is {refused.state}"
        return "withdrawn"

    def execute() -> str:
        try:
            prepared.execute(now=now)
        except ApprovalStateError as refused:
            return f"is {refused.state}"
        return "executed"

    outcome = tuple(run_together([take_back, execute]))
    assert outcome in {("withdrawn", "is stale"), ("is executed", "executed")}
    number = Document.objects.get().number
    told = AuditEvent.objects.filter(action="approval:withdrawn").count()
    assert (number is None, told) == ((True, 1) if outcome[0] == "withdrawn" else (False, 0))
