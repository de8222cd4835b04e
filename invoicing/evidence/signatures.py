"""Who signed a decision with a passkey."""

from collections.abc import Collection, Mapping
from uuid import UUID

from agent_access.passkeys.models import Signature


def read_signatures(record_ids: Collection[UUID]) -> Mapping[UUID, Signature]:
    """Return the signature over each of these approvals and documents, by its ID."""
    found = Signature.objects.filter(record_id__in=list(record_ids))
    return {each.record_id: each for each in found.select_related("person", "passkey")}
