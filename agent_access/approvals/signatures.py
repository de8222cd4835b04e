"""What an approval's signature binds, and whether an approval has the one that it needs."""

from functools import partial
from typing import Any

from django.db import transaction

from agent_access import audit, signing
from agent_access.approvals.kinds import ApprovalKind, kinds
from agent_access.approvals.models import ApprovalRequest, Decision
from agent_access.audit import Fact, Origin
from agent_access.signing import Act, Purpose, SignatureRefusedError

REFUSED = "approval:signature_refused"


def act_of(kind: ApprovalKind[Any], approval: ApprovalRequest, target: Any) -> Act:
    """Return what the person decides of an approval; a target that is gone concerns nobody."""
    person = approval.delegated_user
    return Act(
        purpose=Purpose.APPROVE,
        record_id=approval.pk,
        person=person,
        facts=approval.facts,
        window=kind.window,
        nonce_digest=approval.nonce_digest,
        connection_id=approval.connection_id,
        party=kind.party(target) if target else None,
        value=kind.value(target) if target else None,
        earlier=partial(kind.earlier, person, target) if target else dict,
    )


def is_signed(approval: ApprovalRequest, target: Any) -> bool:
    """Return whether the approval has the signature that it needs; one that needs none costs none.

    Asked only of what is approved and not executed.
    """
    is_usable = approval.decision == Decision.APPROVED and approval.executed_at is None
    if not is_usable or approval.demand == "":
        return True
    return signing.is_signed(act_of(kinds.get(approval.kind), approval, target), approval.demand)


def digest_decision(approval: ApprovalRequest) -> str:
    """Return what the event of a decision keeps of it."""
    return signing.digest_decided(approval.fingerprint, approval.demand)


def record_refusal(
    approval: ApprovalRequest, refusal: SignatureRefusedError, origin: Origin
) -> None:
    """Write down, in a transaction of its own, that somebody tried to approve it unsigned."""
    fact = Fact(
        action=REFUSED,
        origin=origin,
        actor_id=approval.delegated_user_id,
        connection_id=approval.connection_id,
        target=str(approval.pk),
        outcome="signature_refused",
        detail=refusal.refusal,
    )
    with transaction.atomic():
        audit.record_refusal(fact)
