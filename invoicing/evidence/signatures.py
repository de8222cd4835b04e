"""Who signed a decision with a passkey, where the app of passkeys is installed."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.apps import apps

APP, MODEL = "agent_passkeys", "Signature"


def can_be_signed() -> bool:
    """Return whether signatures are kept here at all."""
    return apps.is_installed("agent_access.passkeys")


def read_signatures(record_ids: Collection[UUID]) -> Mapping[UUID, Any]:
    """Return the last signature over each of these approvals and documents, by its ID."""
    if not can_be_signed():
        return {}
    signed: Any = apps.get_model(APP, MODEL)
    found = signed.objects.filter(record_id__in=list(record_ids)).order_by("signed_at")
    return {each.record_id: each for each in found.select_related("person", "passkey")}
