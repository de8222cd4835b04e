"""Snapshots of the database, with which tests assert that a refusal changed nothing."""

from typing import Any

from django.apps import apps
from django.db import connection

EVIDENCE = ("agent_access.AuditEvent", "agent_access.ChainHead")
# What a person looked at, which the page that shows it keeps: looking decides nothing.
SEEN = ("agent_approvals.Sighting",)


def take_snapshot(*app_labels: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables, or of those of these apps, by model.

    Without the tables of the audit, which records refusals, and of what was looked at.
    """
    return {
        model._meta.label: _read_rows(model._meta.db_table)
        for model in apps.get_models(include_auto_created=True)
        if model._meta.label not in EVIDENCE + SEEN
        and (not app_labels or model._meta.app_label in app_labels)
    }


def _read_rows(table: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608  a table of our own
        return sorted(cursor.fetchall(), key=repr)
