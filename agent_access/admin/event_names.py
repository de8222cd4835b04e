"""Whom and what audit events name by ID, in the words of whoever reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agent_access import conf
from agent_access.admin.filters import read_uuid
from agent_access.admin.people import names_of
from agent_access.models.audit import AuditEvent
from agent_access.models.connections import Connection


@dataclass(frozen=True)
class EventNames:
    """Names by ID: of users, connections and the project's records; without one, the ID itself."""

    _known: dict[UUID, str]

    def actor(self, event: AuditEvent) -> str:
        return self._name(event.actor_id)

    def connection(self, event: AuditEvent) -> str:
        return self._name(event.connection_id)

    def target(self, event: AuditEvent) -> str:
        return self._name(read_uuid(event.target)) or event.target

    def _name(self, pk: UUID | None) -> str:
        return self._known.get(pk, str(pk)) if pk else ""


def read_names(events: Sequence[AuditEvent], *, viewer: Any) -> EventNames:
    """Read all names that the events need, by a few queries however many they are."""
    named = ((each.actor_id, each.connection_id, read_uuid(each.target)) for each in events)
    ids = {pk for pks in named for pk in pks if pk is not None}
    known = names_of(ids) | {pk: str(each) for pk, each in Connection.objects.in_bulk(ids).items()}
    return EventNames(known | {**conf.host().names_of(ids - known.keys(), viewer)})
