from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agent_access.approvals.inbox import PAGE_LENGTH, pending_for, read_others, read_pending
from agent_access.approvals.states import ApprovalState
from invoicing.document_approvals import read_pending_of
from invoicing.models import Customer, Document
from invoicing.services.issuing import issue_document
from tests.approvals import A_MINUTE_LATER, TEN_MINUTES_LATER, prepare
from tests.clocks import at
from tests.factories import make_draft
from tests.plans import plans_of, prefer_indexes


def ids(page: Any) -> list[Any]:
    return [each.approval.id for each in page[0]]


def read_first(user: Any, *, now: Any = A_MINUTE_LATER) -> tuple[list[Any], list[Any]]:
    """Return the IDs of the first page: the open ones, and the others."""
    return (
        ids(read_pending(user, after=None, now=now)),
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

    [waiting], _ = read_pending(delegate, after=None, now=A_MINUTE_LATER)
    assert (waiting.approval.id, waiting.state) == (prepared.approval.id, ApprovalState.STALE)
    assert read_first(delegate, now=TEN_MINUTES_LATER) == ([], [prepared.approval.id])


def test_the_number_of_queries_does_not_grow(delegate, customer):
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            read_pending(delegate, after=None, now=A_MINUTE_LATER)
            read_others(delegate, before=None, now=A_MINUTE_LATER)
        return len(captured)

    delegate.has_perm("invoices.view_document")
    prepare(make_draft(user=delegate, customer=customer), user=delegate)
    few = count()
    for _ in range(29):
        prepare(make_draft(user=delegate, customer=customer), user=delegate)
    assert pending_for(delegate, now=A_MINUTE_LATER).count() == 30
    assert count() == few


def test_what_waited_before_costs_the_count_nothing(delegate, draft):
    for _ in range(30):
        prepare(draft, user=delegate)
    prefer_indexes()
    plan = plans_of(pending_for(delegate, now=TEN_MINUTES_LATER).count, where="COUNT(*)")
    assert "approval_by_expiry" in plan


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
