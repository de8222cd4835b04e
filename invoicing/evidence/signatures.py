"""Who signed a decision with a passkey, and whether the signature is one over what was decided."""

from collections.abc import Collection, Mapping
from uuid import UUID

import orjson

from agent_access.facts import fingerprint_of
from agent_access.passkeys.assertions import still_verifies
from agent_access.passkeys.models import Signature


def read_signatures(record_ids: Collection[UUID]) -> Mapping[UUID, Signature]:
    """Return the signature over each of these approvals and documents, by its ID."""
    found = Signature.objects.filter(record_id__in=list(record_ids))
    return {each.record_id: each for each in found.select_related("person", "passkey")}


def holds(signature: Signature) -> bool:
    """Return whether it was made by its passkey, over exactly the facts and the record it names.

    The passkey is as it is stored: the audit's events of passkeys tell whether it was replaced.
    """
    if signature.public_key != signature.passkey.public_key or not still_verifies(signature):
        return False
    try:
        signed = dict(orjson.loads(signature.challenge))
    except (TypeError, ValueError):
        return False
    return (
        signed.get("fingerprint") == signature.fingerprint == fingerprint_of(signature.facts)
        and (signed.get("approval") or signed.get("record")) == str(signature.record_id)
        and signed.get("user") == str(signature.person_id)
    )
