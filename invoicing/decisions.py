"""What a person issues by hand, in one transaction with its audit event."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from agent_access import audit, signing
from agent_access.audit import Actor, Origin
from agent_access.facts import fingerprint_facts
from agent_access.signing import Proof, SignatureRefusedError
from invoicing.access import ISSUE_PERMISSIONS
from invoicing.errors import ConflictError
from invoicing.locks import lock_draft, require_still_allowed
from invoicing.models import Document, User
from invoicing.services.document_facts import read_facts
from invoicing.services.issued_content import digest_content
from invoicing.services.issuing import Clock, issue_locked
from invoicing.signed_issues import act_by_hand

# As the audit names a signature that was none, and what was to be issued with it.
SIGNATURE_REFUSED = "document:signature_refused"

# The action of the audit event.
ISSUED_BY_HAND = "document:issued"


def issue_by_hand(
    user: User,
    pk: UUID,
    *,
    fingerprint: str,
    origin: Origin,
    clock: Clock = timezone.now,
    proof: Proof | None = None,
) -> Document:
    """Issue the draft if its facts have the fingerprint that the person was shown, and audit it.

    The event names the connection that made the draft, if one did. Raises RecordNotFoundError,
    PermissionMissingError, or ConflictError if it is no draft, has another fingerprint, or cannot
    be issued as it stands; SignatureRefusedError, which is audited, if it has to be signed and the
    proof does not hold.
    """
    try:
        return _issue(user, pk, fingerprint, proof, origin=origin, clock=clock)
    except SignatureRefusedError as refusal:
        _record_refusal(user, pk, refusal, origin)
        raise


@transaction.atomic
def _issue(
    user: User, pk: UUID, fingerprint: str, proof: Proof | None, *, origin: Origin, clock: Clock
) -> Document:
    draft = lock_draft(pk, visible_to=user)
    require_still_allowed(user, pk, *ISSUE_PERMISSIONS)
    [facts] = read_facts([draft])
    if not constant_time_compare(fingerprint_facts(facts), fingerprint):
        raise ConflictError
    act = act_by_hand(user, draft, facts)
    document = issue_locked(draft, facts, issued_by_id=user.pk, clock=clock)
    # Whoever sends the person away, or takes their permission, holds this lock until it is done.
    audit.lock_administration()
    require_still_allowed(user, pk, *ISSUE_PERMISSIONS)
    # Changes of passkeys and rules hold that lock, too, before they lock what is read here.
    demand, by = signing.demand_of(act, lock=True), Actor(origin, user.id)
    signing.sign(act, demand, proof)
    audit.record_act(
        ISSUED_BY_HAND,
        by,
        connection_id=document.connection_id,
        target=str(pk),
        detail=str(document.number),
        content_digest=digest_content(document),
    )
    if demand:
        digest = signing.digest_decided(act.fingerprint, demand)
        audit.record_act(signing.SIGNED, by, target=str(pk), content_digest=digest)
    return document


@transaction.atomic
def _record_refusal(user: User, pk: UUID, refusal: SignatureRefusedError, origin: Origin) -> None:
    audit.record_act(
        SIGNATURE_REFUSED,
        Actor(origin, user.id),
        target=str(pk),
        outcome="signature_refused",
        detail=refusal.refusal,
    )
