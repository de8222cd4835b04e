"""What a person issues by hand, in one transaction with its audit event."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from agent_access import audit
from agent_access.audit import Actor, Origin
from agent_access.facts import fingerprint_facts
from invoicing.access import ISSUE_PERMISSIONS
from invoicing.errors import ConflictError
from invoicing.locks import lock_draft, require_still_allowed
from invoicing.models import Document, User
from invoicing.services.document_facts import read_facts
from invoicing.services.issued_content import digest_content
from invoicing.services.issuing import Clock, issue_locked


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
        content_digest=digest_content(document),
    )
    return document
