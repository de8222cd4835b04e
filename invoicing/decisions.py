"""What a person decides on the pages, each decision in one transaction with its audit event."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from agent_access import audit
from agent_access.audit import Actor, Fact, Origin
from agent_access.connections import ended_connections
from agent_access.facts import fingerprint_facts
from invoicing.access import ISSUE_PERMISSIONS
from invoicing.errors import ConflictError, ConnectionEndedError
from invoicing.locks import lock_draft, require_still_allowed, require_still_signed_in
from invoicing.models import Decision, Document, User
from invoicing.services import approvals
from invoicing.services.approvals import ApprovalSnapshot
from invoicing.services.document_facts import read_facts
from invoicing.services.issuing import Clock, issue_locked


@transaction.atomic
def decide_approval(
    user: User, pk: UUID, *, decision: Decision, fingerprint: str, reason: str, origin: Origin
) -> ApprovalSnapshot:
    """Decide as services.approvals.write_decision does, raising what it raises, and audit it.

    The event goes to the chain of the connection that prepared the approval. What an ended one
    prepared can still be rejected; to approve it raises ConnectionEndedError.
    """
    snapshot = approvals.write_decision(
        user, pk, decision=decision, fingerprint=fingerprint, reason=reason, clock=timezone.now
    )
    fact = Fact(
        action=f"approval:{decision}",
        origin=origin,
        actor_id=user.id,
        connection_id=snapshot.approval.connection_id,
        target=str(pk),
        detail=str(snapshot.approval.document_id),
    )
    audit.record_decision(fact)
    # Whoever ends the connection or the session holds the chain's lock until that is done.
    current = require_still_signed_in(user)
    if decision == Decision.APPROVED and approvals_of_ended_connections([snapshot], current):
        raise ConnectionEndedError
    return snapshot


@transaction.atomic
def issue_by_hand(
    user: User, pk: UUID, *, fingerprint: str, origin: Origin, clock: Clock = timezone.now
) -> Document:
    """Issue the draft if its facts have the fingerprint that the person was shown, and audit it.

    The event names the connection that made the draft, if one did. Raises RecordNotFoundError,
    PermissionMissingError, or ConflictError if it is no draft, has another fingerprint, or cannot
    be issued as it stands.
    """
    draft = lock_draft(pk, visible_to=user)
    require_still_allowed(user, pk, *ISSUE_PERMISSIONS)
    [facts] = read_facts([draft])
    if not constant_time_compare(fingerprint_facts(facts), fingerprint):
        raise ConflictError
    document = issue_locked(draft, facts, issued_by_id=user.pk, clock=clock)
    # Whoever sends the person away, or takes their permission, holds this lock until it is done.
    audit.lock_administration()
    require_still_allowed(user, pk, *ISSUE_PERMISSIONS)
    audit.record_act(
        "document:issued",
        Actor(origin, user.id),
        connection_id=document.connection_id,
        target=str(pk),
        detail=str(document.number),
    )
    return document


def approvals_of_ended_connections(snapshots: Iterable[ApprovalSnapshot], user: User) -> set[UUID]:
    """Return the IDs of this person's approvals whose connection has ended: it executes none."""
    connections = {each.approval.pk: each.approval.connection_id for each in snapshots}
    found = ended_connections(user).filter(pk__in=connections.values())
    ended = set(found.values_list("pk", flat=True))
    return {pk for pk, connection_id in connections.items() if connection_id in ended}
