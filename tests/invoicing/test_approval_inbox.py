from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from invoicing.models import Customer, Decision, Document
from invoicing.services.approval_inbox import OPEN_SHOWN, find_open, read_inbox
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, TEN_MINUTES_LATER, prepare
from tests.factories import make_draft


@pytest.fixture
def draft(delegate, customer):
    return make_draft(user=delegate, customer=customer)


def ids(reviewed):
    return [each.approval.id for each in reviewed]


def test_open_approvals_stand_first_and_the_first_to_expire_on_top(delegate, draft):
    rejected, older, newer = [prepare(draft, user=delegate) for _ in range(3)]
    rejected.decide(Decision.REJECTED)

    inbox = read_inbox(delegate, before=None, now=A_MINUTE_LATER)

    assert ids(inbox.open) == [older.approval.id, newer.approval.id]
    assert ids(inbox.others) == [rejected.approval.id]
    assert inbox.next is None


@pytest.mark.parametrize("change", ["decided", "expired", "draft changed", "customer changed"])
def test_what_cannot_be_decided_any_more_is_not_open(delegate, draft, change):
    prepared, now = prepare(draft, user=delegate), A_MINUTE_LATER
    assert ids(find_open(delegate, now=now)) == [prepared.approval.id]
    if change == "decided":
        prepared.decide()
    elif change == "expired":
        now = TEN_MINUTES_LATER
    elif change == "draft changed":
        Document.objects.update(lock_version=2)
    else:
        Customer.objects.update(name="Acme Limited")

    assert find_open(delegate, now=now) == []
    assert ids(read_inbox(delegate, before=None, now=now).others) == [prepared.approval.id]


def test_nobody_sees_another_persons_approvals(delegate, colleague, draft):
    prepare(draft, user=delegate)

    inbox = read_inbox(colleague, before=None, now=A_MINUTE_LATER)

    assert (inbox.open, inbox.others) == ([], [])


def test_pages_walk_through_all_others_newest_first(delegate, draft):
    early = PREPARED_AT - timedelta(days=1)
    made = [prepare(draft, user=delegate, now=early) for _ in range(60)]
    waiting = prepare(draft, user=delegate)

    walked, before, lengths = [], None, []
    for _ in range(3):
        inbox = read_inbox(delegate, before=before, now=A_MINUTE_LATER)
        assert ids(inbox.open) == ([waiting.approval.id] if before is None else [])
        walked += ids(inbox.others)
        lengths.append(len(inbox.others))
        before = inbox.next

    assert lengths == [25, 25, 10]
    assert before is None
    assert walked == [each.approval.id for each in reversed(made)]


def test_a_flood_of_requests_neither_hides_one_nor_slows_the_page(delegate, draft):
    made = [prepare(draft, user=delegate) for _ in range(OPEN_SHOWN + 2)]
    with CaptureQueriesContext(connection) as queries:
        inbox = read_inbox(delegate, before=None, now=A_MINUTE_LATER)

    assert ids(inbox.open) == [each.approval.id for each in made[:OPEN_SHOWN]]
    assert ids(inbox.others) == [each.approval.id for each in reversed(made[OPEN_SHOWN:])]
    assert len(queries) <= 10


def test_without_a_request_one_query_says_so(delegate, django_assert_num_queries):
    delegate.has_perm("invoices.view_document")
    with django_assert_num_queries(1):
        assert find_open(delegate, now=A_MINUTE_LATER) == []
