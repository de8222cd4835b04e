"""Whom and what audit events name by ID, in words for the person who reads them."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from agent_access import conf
from agent_access.admin.filters import read_uuid
from agent_access.admin.people import names_of
from agent_access.models import AuditEvent, Connection


class EventNames(NamedTuple):
    """What one event names: a user, a connection, a record; without a name, the ID itself."""

    actor: str
    connection: str
    target: str


def read_names(events: Sequence[AuditEvent], *, viewer: Any) -> list[EventNames]:
    """Return the names of each event, read by a few queries however many they are."""
    named = ((each.actor_id, each.connection_id, read_uuid(each.target)) for each in events)
    ids = {pk for pks in named for pk in pks if pk is not None}
    known = names_of(ids) | {pk: str(each) for pk, each in Connection.objects.in_bulk(ids).items()}
    known |= conf.policy().record_labels(ids - known.keys(), viewer)

    def name(pk: UUID | None) -> str:
        return known.get(pk, str(pk)) if pk else ""

    return [
        EventNames(
            name(each.actor_id),
            name(each.connection_id),
            name(read_uuid(each.target)) or each.target,
        )
        for each in events
    ]
