import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from invoicing.access import APPROVE_PERMISSIONS, Permission
from invoicing.errors import (
    ApprovalStateError,
    ConflictCause,
    ConflictError,
    PermissionMissingError,
    RecordNotFoundError,
)
from invoicing.models import (
    Customer,
    Decision,
    Document,
    DocumentType,
    IssueApproval,
    Line,
    TaxRate,
    User,
)
from invoicing.services import approvals
from invoicing.services.approvals import Execution, decide_approval, execute_approval
from tests.approvals import A_MINUTE_LATER, PREPARED_AT, TEN_MINUTES_LATER, prepare
from tests.clocks import at
from tests.factories import (
    UserFactory,
    line_input,
    make_connection_ref,
    make_draft,
    make_issued,
    withdraw,
)
from tests.snapshots import take_snapshot


@pytest.fixture
def draft(delegate, customer, tax_rate):
    return make_draft(
        user=delegate, customer=customer, lines=(line_input(tax_rate_id=tax_rate.id),)
    )


@pytest.fixture
def prepared(delegate, draft):
    return prepare(draft, user=delegate)


def refuse_in(state: str, action: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Run the action, which must be refused since the approval is in this state."""
    assert refuse(ApprovalStateError, action, *args, **kwargs).state == state


def refuse(error, action: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run the action, which must raise exactly the error and change nothing."""
    before = take_snapshot()
    with pytest.raises(error) as refusal:
        action(*args, **kwargs)
    assert type(refusal.value) is error
    assert take_snapshot() == before
    return refusal.value


@pytest.mark.requirement("approval.created_by_prepare", "approval.window")
def test_preparing_keeps_the_facts_and_ten_minutes_and_no_nonce(delegate, draft):
    maker = make_connection_ref("Ledger agent")
    prepared = prepare(draft, user=delegate, connection=maker)
    kept = IssueApproval.objects.get()

    assert (kept.document_id, kept.delegated_user_id) == (draft.id, delegate.id)
    assert (kept.connection_id, kept.connection_name) == (maker.connection_id, "Ledger agent")
    assert (kept.prepared_at, kept.expires_at) == (PREPARED_AT, TEN_MINUTES_LATER)
    assert json.loads(kept.facts) == prepared.read().current
    assert prepared.nonce not in str(take_snapshot())


def test_what_is_no_draft_invoice_at_that_version_cannot_be_prepared(delegate, draft):
    credit_note = make_draft(user=delegate, document_type=DocumentType.CREDIT_NOTE)
    draft.lock_version = 2
    causes = [
        refuse(ConflictError, prepare, document, user=delegate).cause
        for document in (credit_note, make_issued(user=delegate), draft)
    ]
    assert causes == [
        ConflictCause.NO_DRAFT_INVOICE,
        ConflictCause.NO_DRAFT_INVOICE,
        ConflictCause.OLD_VERSION,
    ]


@pytest.mark.parametrize("model", [Customer, TaxRate])
def test_a_draft_of_an_inactive_customer_or_rate_cannot_be_prepared(delegate, draft, model):
    model.objects.update(is_active=False)
    error = refuse(ConflictError, prepare, draft, user=delegate)
    assert error.cause is ConflictCause.INACTIVE_REFERENCE


def test_a_draft_whose_rate_was_changed_under_it_cannot_be_prepared(delegate, draft):
    TaxRate.objects.update(percentage_ten_thousandths=70_000)
    error = refuse(ConflictError, prepare, draft, user=delegate)
    assert error.cause is ConflictCause.OTHER_TOTALS


def test_a_draft_whose_discount_was_changed_under_it_cannot_be_prepared(delegate, draft):
    Line.objects.update(discount_type="amount", discount_value=10_001)
    refuse(ConflictError, prepare, draft, user=delegate)


def test_an_untaxed_draft_whose_price_was_changed_under_it_cannot_be_prepared(delegate):
    draft = make_draft(user=delegate)
    Line.objects.update(unit_price=4000)
    refuse(ConflictError, prepare, draft, user=delegate)


def test_a_draft_out_of_scope_cannot_be_prepared(stranger, draft):
    refuse(RecordNotFoundError, prepare, draft, user=stranger)


@pytest.mark.requirement("approval.delegate_decides", "approval.others_cannot_decide")
def test_nobody_but_the_delegated_person_decides(colleague, owner, prepared):
    superuser = UserFactory.create(is_superuser=True)
    for somebody in (colleague, owner, superuser):
        for decision in Decision:
            refuse(
                RecordNotFoundError,
                decide_approval,
                somebody,
                prepared.approval.pk,
                decision=decision,
                fingerprint=prepared.approval.fingerprint,
                clock=at(A_MINUTE_LATER),
            )


@pytest.mark.parametrize("permission", APPROVE_PERMISSIONS)
def test_who_may_not_see_or_issue_documents_can_only_reject(delegate, prepared, permission):
    withdraw(delegate, permission)

    refuse(PermissionMissingError, prepared.decide)

    assert prepared.decide(Decision.REJECTED, reason="Not mine.").state == "rejected"


@pytest.mark.parametrize(
    ("take_away", "error"),
    [
        (lambda person: withdraw(person, Permission.FINALIZE), PermissionMissingError),
        (lambda person: withdraw(person, Permission.VIEW_DOCUMENT), PermissionMissingError),
        (lambda person: withdraw(person, Permission.VIEW_ALL_CUSTOMERS), RecordNotFoundError),
        (
            lambda person: User.objects.filter(pk=person.pk).update(is_active=False),
            PermissionMissingError,
        ),
        (
            lambda person: User.objects.filter(pk=person.pk).update(session_revision=7),
            PermissionMissingError,
        ),
    ],
    ids=["finalize", "view", "reach", "active", "sessions"],
)
def test_what_was_withdrawn_while_the_draft_was_waited_for_approves_nothing(
    delegate, prepared, take_away, error
):
    assert delegate.has_perm(Permission.FINALIZE)  # as they have it at the beginning of the request
    take_away(User.objects.get(pk=delegate.pk))

    refuse(error, prepared.decide)


@pytest.mark.parametrize("decision", Decision)
def test_what_was_not_shown_is_not_decided(prepared, decision):
    refuse_in("stale", prepared.decide, decision, fingerprint="0" * 64)
    refuse_in("stale", prepared.decide, decision, fingerprint="é")


def test_a_decision_is_kept_with_its_time_and_only_a_rejection_with_a_reason(delegate, draft):
    approved, rejected = prepare(draft, user=delegate), prepare(draft, user=delegate)
    approved.decide(Decision.APPROVED, reason="Because.")
    rejected.decide(Decision.REJECTED, reason="Wrong customer.")

    kept = IssueApproval.objects.order_by("id")
    assert list(kept.values_list("decision", "decided_at", "rejection_reason")) == [
        ("approved", A_MINUTE_LATER, ""),
        ("rejected", A_MINUTE_LATER, "Wrong customer."),
    ]


@pytest.mark.requirement("approval.foreign_or_wrong_nonce", "error.foreign_approval")
def test_another_connection_or_nonce_or_person_finds_no_approval(colleague, prepared):
    prepared.decide()
    own = {"connection_id": prepared.approval.connection_id, "nonce": prepared.nonce, "key": "k"}
    foreign = make_connection_ref().connection_id
    attempts = [
        (prepared.user, own | {"connection_id": foreign}),
        (prepared.user, own | {"nonce": prepared.nonce[:-1]}),
        (prepared.user, own | {"nonce": ""}),
        (colleague, own),
    ]
    for user, execution in attempts:
        refuse(
            RecordNotFoundError,
            execute_approval,
            user,
            prepared.approval.pk,
            Execution(**execution),
            clock=at(A_MINUTE_LATER),
            serialise_result=lambda *_: "never",
        )


def test_issuing_one_of_several_approvals_makes_the_others_stale(delegate, draft):
    first, second = prepare(draft, user=delegate), prepare(draft, user=delegate)
    first.decide()
    second.decide()
    first.execute()

    assert second.read().stale_fields == ["status", "lock_version"]
    refuse_in("stale", second.execute)


def test_an_executed_approval_stays_so_whatever_changes_later(prepared):
    prepared.decide()
    prepared.execute()
    Customer.objects.update(name="Acme Limited", is_active=False)
    TaxRate.objects.update(percentage_ten_thousandths=70_000)

    snapshot = prepared.read(now=TEN_MINUTES_LATER)

    assert (snapshot.state, snapshot.stale_fields) == ("executed", [])


APPROVED = {"decision": Decision.APPROVED, "decided_at": A_MINUTE_LATER}
EXECUTED = {"executed_at": A_MINUTE_LATER, "execute_key": "another", "result": "{}"}


@pytest.mark.parametrize(
    ("kept", "now"),
    [
        ({"decision": ""}, A_MINUTE_LATER),
        (APPROVED | EXECUTED, A_MINUTE_LATER),
        (APPROVED, TEN_MINUTES_LATER),
    ],
    ids=["undecided", "executed", "expired"],
)
def test_where_a_lock_fails_the_database_still_refuses(prepared, monkeypatch, kept, now):
    """What the execution holds says that all is well; what is kept says otherwise."""
    held = IssueApproval.objects.get()
    held.decision, held.expires_at = Decision.APPROVED, TEN_MINUTES_LATER + timedelta(minutes=1)
    IssueApproval.objects.update(**kept)
    monkeypatch.setattr(approvals, "lock_approval", lambda *_, **__: held)
    refuse(IntegrityError, prepared.execute, now=now)


def test_where_a_lock_fails_a_draft_that_moved_on_leaves_its_approval_unexecuted(
    prepared, monkeypatch
):
    prepared.decide()
    held = IssueApproval.objects.select_related("document__customer").get()
    Document.objects.update(lock_version=held.document.lock_version + 1)
    monkeypatch.setattr(approvals, "lock_approval", lambda *_, **__: held)
    refuse(ConflictError, prepared.execute)
