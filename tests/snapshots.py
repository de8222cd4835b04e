"""What the database holds, so that a test can say that a refusal changed nothing."""

from typing import Any

from django.apps import apps

EVIDENCE = ("agent_access.AuditEvent", "agent_access.ChainHead")


def take_snapshot() -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table but the audit's, which writes refusals down."""
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values())
        for model in apps.get_models(include_auto_created=True)
        if model._meta.label not in EVIDENCE
    }
