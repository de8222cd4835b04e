"""Many at once at one approval; SQLite lets one write at a time, so these are PostgreSQL's."""

from collections import Counter
from typing import Any

import pytest

from invoicing.approval_states import ApprovalState
from invoicing.errors import ApprovalStateError, ConflictError, InvoicingError
from invoicing.models import Decision, Document, IssueApproval, NumberSeries
from invoicing.services.drafts import update_draft
from tests.approvals import prepare
from tests.factories import draft_input, line_input, make_draft
from tests.threads import THREADS, in_threads

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def approved(delegate, draft):
    prepared = prepare(draft, user=delegate)
    prepared.decide()
    return prepared


def outcome(action: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what the action returns, or the kind of the refusal, or the state that refused it."""
    try:
        return action(*args, **kwargs)
    except ApprovalStateError as refusal:
        return refusal.state
    except InvoicingError as refusal:
        return type(refusal)


def test_twenty_approvals_of_one_draft_issue_it_once(delegate, draft):
    prepared = [prepare(draft, user=delegate) for _ in range(THREADS)]
    for each in prepared:
        each.decide()

    outcomes = in_threads(lambda each: outcome(each.execute), prepared)

    assert Counter(map(type_of, outcomes)) == {IssueApproval: 1, ApprovalState.STALE: THREADS - 1}
    assert NumberSeries.objects.get().last_value == 1


def type_of(result: Any) -> Any:
    return result if isinstance(result, type | ApprovalState) else type(result)


def test_approving_and_rejecting_at_once_is_one_decision(delegate, draft):
    prepared = prepare(draft, user=delegate)
    decisions = list(Decision) * (THREADS // 2)

    outcomes = in_threads(lambda decision: outcome(prepared.decide, decision), decisions)

    refused = [each for each in outcomes if isinstance(each, ApprovalState)]
    [decided] = [each for each in outcomes if not isinstance(each, ApprovalState)]
    assert len(refused) == THREADS - 1
    assert IssueApproval.objects.get().decision == decided.approval.decision


def test_a_rejection_and_an_execution_at_once_never_both_happen(delegate, customer):
    """Executing before the decision is refused, so the two cannot cross."""
    prepared = [
        prepare(make_draft(user=delegate, customer=customer), user=delegate) for _ in range(10)
    ]
    tasks = [(each, name) for each in prepared for name in ("reject", "execute")]

    def act(task: Any) -> Any:
        each, name = task
        return (
            outcome(each.decide, Decision.REJECTED) if name == "reject" else outcome(each.execute)
        )

    outcomes = set(map(type_of, in_threads(act, tasks)))
    refused = {ApprovalState.PENDING, ApprovalState.REJECTED}
    assert outcomes <= {type(prepared[0].read()), *refused}
    assert not Document.objects.filter(status="issued").exists()


def test_an_edit_and_an_execution_at_once_leave_it_stale_or_issued_as_shown(delegate, customer):
    prepared = []
    for _ in range(THREADS):
        each = prepare(make_draft(user=delegate, customer=customer), user=delegate)
        each.decide()
        prepared.append(each)
    changed = draft_input(customer, line_input(unit_price=1))

    def act(task: Any) -> Any:
        each, name = task
        if name == "execute":
            return type_of(outcome(each.execute))
        pk = each.approval.document_id
        return type_of(outcome(update_draft, delegate, pk, changed, lock_version=1))

    tasks = [(each, name) for each in prepared for name in ("execute", "edit")]
    outcomes = in_threads(act, tasks)

    for index, each in enumerate(prepared):
        executed, edited = outcomes[2 * index : 2 * index + 2]
        document = Document.objects.get(pk=each.approval.document_id)
        assert (executed, edited, document.status, document.grand_total) in {
            (IssueApproval, ConflictError, "issued", 10_000),
            (ApprovalState.STALE, Document, "draft", 2),
        }
    issued = outcomes.count(IssueApproval)
    assert Document.objects.filter(status="issued").count() == issued
    assert sum(NumberSeries.objects.values_list("last_value", flat=True)) == issued
