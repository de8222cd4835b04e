"""A person's decision about an agent's request, and the audit event that tells of it."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agent_access import audit
from agent_access.audit import Fact, Origin
from agent_access.connections import live_connections
from invoicing.models import Decision, User
from invoicing.services import approvals
from invoicing.services.approvals import ReviewedApproval


@transaction.atomic
def decide_approval(
    user: User, pk: UUID, *, decision: Decision, fingerprint: str, reason: str, origin: Origin
) -> ReviewedApproval:
    """Decide as services.approvals.decide_approval does, and write it into the audit.

    The event goes to the chain of the connection that asked, even if it has been revoked since.
    """
    reviewed = approvals.decide_approval(
        user,
        pk,
        decision=decision,
        fingerprint=fingerprint,
        reason=reason,
        clock=timezone.now,
    )
    fact = Fact(
        action=f"approval:{decision}",
        origin=origin,
        actor_id=user.id,
        connection_id=reviewed.approval.connection_id,
        target=str(pk),
    )
    audit.record_decision(fact)
    return reviewed


def has_asker_ended(reviewed: ReviewedApproval) -> bool:
    """Tell whether the connection that asked can issue nothing any more, whatever is decided."""
    return not live_connections().filter(pk=reviewed.approval.connection_id).exists()
