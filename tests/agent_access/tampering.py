"""Hands that reach past the triggers, as somebody with the database's password could."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.db import connection

from agent_access.audit import digest_event
from agent_access.database import triggers
from agent_access.models import AuditEvent, ChainHead


@contextmanager
def past_triggers() -> Iterator[None]:
    """Take the audit's triggers away for a moment."""
    with without_triggers("agent_access"):
        yield


@contextmanager
def without_triggers(label: str) -> Iterator[None]:
    """Take the triggers of an app away for a moment."""
    folder = Path(apps.get_app_config(label).path) / "sql"
    triggers.drop(connection, folder)
    try:
        yield
    finally:
        triggers.install(connection, folder)


def run_sql(statement: str, *parameters: str | int) -> int:
    """Run one statement past the triggers; return how many rows it touched."""
    with past_triggers(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        touched: int = cursor.rowcount
        return touched


def rewrite_chain(chain: str) -> None:
    """Make a forged chain whole again: all digests, and the head."""
    previous, last = "", 0
    with past_triggers():
        for event in AuditEvent.objects.filter(chain=chain).order_by("sequence"):
            previous = digest_event(event, previous_digest=previous)
            last = event.sequence
            AuditEvent.objects.filter(pk=event.pk).update(digest=previous)
    ChainHead.objects.filter(chain=chain).update(sequence=last, digest=previous)
