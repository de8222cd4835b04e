"""What is withdrawn while a call is under way is not used, whatever the call waits for."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from agent_access import execution, receipts
from agent_access.approvals.engine import decide
from agent_access.approvals.errors import ConnectionEndedError
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.connections import revoke_connection
from agent_access.models import AccessSettings, AuditEvent, ChainHead, Connection, Receipt
from agent_access.models.connections import RevokedReason
from agent_access.verification import find_breaks
from invoicing.access import ISSUE_PERMISSIONS, Permission
from invoicing.locks import lock_customer
from invoicing.models import Document, User
from invoicing.services.drafts import ConnectionRef
from tests.administration import ORIGIN
from tests.agents import Answer
from tests.approvals import prepare
from tests.factories import UserFactory, make_draft, withdraw
from tests.threads import Encounter, run_together

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("many_calls"),
]


def set_flags(person: User, **flags: object) -> None:
    User.objects.filter(pk=person.pk).update(**flags)


def while_the_chain_is_locked(
    connection: Connection, act: Callable[[], object], call: Callable[[], Answer]
) -> str | None:
    """Return the code of a call that waits for its connection's chain while the act happens."""
    encounter = Encounter()

    def act_under_the_lock() -> str | None:
        with transaction.atomic():
            ChainHead.objects.select_for_update().get(chain=str(connection.id))
            encounter.wait_here()
            act()
        return None

    _, code = run_together([act_under_the_lock, lambda: encounter.come(call).code])
    return code


@pytest.mark.requirement("authentication.current_permissions")
@pytest.mark.parametrize(
    ("take_away", "code"),
    [
        (lambda person: withdraw(person, Permission.MANAGE), "forbidden"),
        (lambda person: withdraw(person, Permission.VIEW_ALL_CUSTOMERS), "not_found"),
        (lambda person: set_flags(person, is_active=False), "unauthenticated"),
        (lambda person: set_flags(person, session_revision=7), "unauthenticated"),
        (lambda _: AccessSettings.objects.update(modules_off=["invoices"]), "not_found"),
    ],
    ids=["permission", "reach", "active", "sessions", "module"],
)
def test_what_is_withdrawn_between_admission_and_commit_is_not_used(
    connect, delegate, draft_body, monkeypatch, take_away, code
):
    connection, agent = connect(delegate)
    claim = receipts.claim_receipt

    def claim_then_lose(*args: Any) -> Any:
        receipt = claim(*args)
        # Committed by somebody else.
        run_together([partial(take_away, User.objects.get(pk=delegate.pk))])
        return receipt

    monkeypatch.setattr(execution, "claim_receipt", claim_then_lose)
    answer = agent.call("drafts.create", draft_body, key="one")

    assert answer.code == code
    assert (Document.objects.count(), Receipt.objects.count()) == (0, 0)
    outcomes = AuditEvent.objects.filter(chain=str(connection.id)).values_list("outcome", flat=True)
    assert list(outcomes) == [code]


@pytest.mark.requirement("authentication.current_permissions")
def test_what_is_withdrawn_while_a_call_waits_for_its_chain_is_not_used(
    connect, delegate, draft_body
):
    connection, agent = connect(delegate)
    create = partial(agent.call, "drafts.create", draft_body, key="one")
    take_away = partial(withdraw, User.objects.get(pk=delegate.pk), Permission.MANAGE)
    assert while_the_chain_is_locked(connection, take_away, create) == "forbidden"
    assert (Document.objects.count(), Receipt.objects.count()) == (0, 0)
    assert list(find_breaks()) == []


@pytest.mark.requirement("revocation.stops_calls")
def test_what_is_revoked_between_reading_and_deciding_is_not_approved(connect, delegate, customer):
    """The revocation has closed the chain, and is committed while the decision waits for it."""
    connection, _ = connect(delegate)
    draft, maker = make_draft(customer=customer), ConnectionRef(connection.id, "Test agent")
    approval = prepare(draft, user=delegate, connection=maker, now=timezone.now()).approval
    encounter = Encounter()

    def revoke() -> str:
        with transaction.atomic():
            revoke_connection(connection.id, reason=RevokedReason.OWNER_REVOKED)
            encounter.wait_here()
        return ""

    def approve() -> str:
        shown: Any = {"fingerprint": approval.fingerprint, "reason": "", "origin": ORIGIN}
        with pytest.raises(ConnectionEndedError) as refused:
            encounter.come(
                lambda: decide(delegate, approval.pk, decision=Decision.APPROVED, **shown)
            )
        return refused.typename

    assert run_together([revoke, approve]) == ["", "ConnectionEndedError"]
    assert ApprovalRequest.objects.get().decision == ""
    assert not AuditEvent.objects.filter(chain=str(connection.id)).exists()
    assert list(find_breaks()) == []


@pytest.mark.requirement("error.receipt_restores_nothing")
def test_a_replay_whose_customer_is_taken_away_while_it_waits_for_its_chain_is_not_given(
    connect, customer, draft_body
):
    manager = UserFactory.create(permissions=[Permission.MANAGE])
    customer.account_managers.add(manager)
    connection, agent = connect(manager)
    create = partial(agent.call, "drafts.create", draft_body, key="one")
    assert create().status == 201
    take_away = partial(customer.account_managers.remove, manager)
    assert while_the_chain_is_locked(connection, take_away, create) == "not_found"
    assert list(find_breaks()) == []


@pytest.mark.requirement("authentication.current_permissions")
@pytest.mark.parametrize(
    ("tool", "code"),
    [("drafts.create", "validation_failed"), ("documents.issue", "not_found")],
)
def test_a_customer_that_is_taken_away_while_a_call_waits_for_it_is_out_of_reach(
    connect, company, customer, draft_body, tool, code
):
    manager = UserFactory.create(permissions=ISSUE_PERMISSIONS)
    customer.account_managers.add(manager)
    connection, agent = connect(manager)
    draft, now = make_draft(customer=customer), timezone.now()
    prepared = prepare(
        draft, user=manager, connection=ConnectionRef(connection.id, "Test agent"), now=now
    )
    prepared.decide(now=now)
    encounter = Encounter()

    def take_away() -> str:
        with transaction.atomic():
            lock_customer(customer.pk).account_managers.remove(manager)
            encounter.wait_here()
        return ""

    def call() -> str:
        issue: Any = {"nonce": prepared.nonce}, prepared.approval.pk
        arguments, pk = (draft_body, None) if tool == "drafts.create" else issue
        return str(encounter.come(lambda: agent.call(tool, arguments, id=pk, key="one")).code)

    assert run_together([take_away, call]) == ["", code]
    assert list(Document.objects.values_list("id", "status")) == [(draft.pk, "draft")]
    assert not Receipt.objects.exists()
