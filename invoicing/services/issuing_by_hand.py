"""Issues for a person who may issue and does so without an agent."""

from uuid import UUID

from django.db import transaction
from django.utils.crypto import constant_time_compare

from invoicing.access import ISSUE_PERMISSIONS
from invoicing.errors import ConflictError
from invoicing.locks import lock_draft, require_still_allowed
from invoicing.models import Document, User
from invoicing.services.document_facts import fingerprint_facts, read_facts
from invoicing.services.issuing import Clock, issue_locked


def issue_by_hand(user: User, pk: UUID, *, fingerprint: str, clock: Clock) -> Document:
    """Issue the draft if its facts have the fingerprint that the person was shown; return it.

    Raises RecordNotFoundError, PermissionMissingError, or ConflictError if it is no draft, has
    another fingerprint, or cannot be issued as it stands.
    """
    with transaction.atomic():
        draft = lock_draft(pk, visible_to=user)
        require_still_allowed(user, pk, *ISSUE_PERMISSIONS)
        [facts] = read_facts([draft])
        if not constant_time_compare(fingerprint_facts(facts), fingerprint):
            raise ConflictError
        return issue_locked(draft, facts, issued_by_id=user.pk, clock=clock)
