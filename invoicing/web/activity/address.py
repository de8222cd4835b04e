"""What the address of the page narrows it to: a connection, a person, a kind, an outcome."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from agent_access import approvers
from agent_access.models import Connection
from agent_access.timeline.reading import Asked
from invoicing.identifiers import read_uuid
from invoicing.models import User
from invoicing.paper.formats import format_day, local_date
from invoicing.web.activity.words import KINDS, OUTCOMES, REASONS, name_kind, name_outcome

# So many connections of a person, the newest, are looked at, and as many are offered.
MOST_CONNECTIONS = 200
CONNECTION, PERSON, KIND, OUTCOME, BEFORE = "connection", "person", "kind", "outcome", "before"
# A code, the name of a tool, or the audit's of a decision.
NAME = re.compile(r"[a-z_.:]{1,100}")
# In whatever zone, an instant of these years is one that Python can hold.
YEARS = range(2000, 9000)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What a viewer chose, as far as they may; `sees_all` says that they administer agents."""

    viewer: User
    sees_all: bool
    connection: Connection | None
    person: User | None
    kind: str
    outcome: str
    before: datetime | None

    def ask(self) -> Asked:
        return Asked(connection_ids=self._find_ids(), action=self.kind, outcome=self.outcome)

    def _find_ids(self) -> Sequence[UUID] | None:
        if self.connection:
            return [self.connection.pk]
        if self.sees_all and not self.person:
            return None
        own = Connection.objects.filter(user=self.person or self.viewer).order_by("-pk")
        return list(own.values_list("pk", flat=True)[:MOST_CONNECTIONS])

    def parameters(self, **changes: str) -> dict[str, str]:
        """Return what the address names, with changes; an empty text takes a filter away."""
        named = {
            CONNECTION: str(self.connection.pk) if self.connection else "",
            PERSON: str(self.person.pk) if self.person else "",
            KIND: self.kind,
            OUTCOME: self.outcome,
        }
        return {name: value for name, value in {**named, **changes}.items() if value}

    def query(self, **changes: str) -> str:
        """Return the same as a query with its question mark; empty without any."""
        named = self.parameters(**changes)
        return f"?{urlencode(named)}" if named else "?"


class Chip(NamedTuple):
    """A filter: its name in the address, what it is called, what is chosen, and the choices."""

    name: str
    label: str
    value: str
    options: list[tuple[str, str, bool]]
    hidden: list[tuple[str, str]]
    remove: str


def read_address(viewer: User, data: QueryDict) -> Chosen:
    """Read what the address asks; 404 for a connection or person out of the viewer's reach."""
    sees_all = approvers.may_administer(viewer)
    return Chosen(
        viewer=viewer,
        sees_all=sees_all,
        connection=_find_connection(viewer, data.get(CONNECTION, ""), sees_all=sees_all),
        person=_find_person(data.get(PERSON, ""), sees_all=sees_all),
        kind=_read_name(data.get(KIND, "")),
        outcome=_read_name(data.get(OUTCOME, "")),
        before=_read_instant(data.get(BEFORE, "")),
    )


def _find_connection(viewer: User, text: str, *, sees_all: bool) -> Connection | None:
    if not text:
        return None
    reach = Connection.objects.all() if sees_all else Connection.objects.filter(user=viewer)
    pk = read_uuid(text)
    found = reach.select_related("user").filter(pk=pk).first() if pk else None
    if found is None:
        raise Http404
    return found


def _find_person(text: str, *, sees_all: bool) -> User | None:
    if not text:
        return None
    pk = read_uuid(text)
    found = User.objects.filter(pk=pk).first() if pk and sees_all else None
    if found is None:
        raise Http404
    return found


def _read_name(text: str) -> str:
    """Return a name that an act may have; empty, as without a filter, for any other text."""
    return text if NAME.fullmatch(text) else ""


def _read_instant(text: str) -> datetime | None:
    """Return an instant with its zone; None for any other text."""
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found and found.tzinfo and found.year in YEARS else None


def describe_connection(connection: Connection, viewer: User, *, with_person: bool) -> str:
    """Name a connection so that it is told from others of its client: by person and date."""
    told = {
        "name": connection.name,
        "person": connection.user.name,
        "day": format_day(local_date(connection.created_at, viewer)),
    }
    if with_person:
        return _("%(name)s, for %(person)s since %(day)s") % told
    return _("%(name)s, since %(day)s") % told


def describe_chips(chosen: Chosen) -> list[Chip]:
    """Describe the filters; that by person is the owner's alone."""
    chips = [_make_chip(chosen, CONNECTION, _("Connection"), _offer_connections(chosen))]
    if chosen.sees_all:
        chips.append(_make_chip(chosen, PERSON, _("Person"), _offer_people(chosen)))
    kinds = [(name, str(label)) for name, label in KINDS.items()]
    outcomes = [(name, str(label)) for name, label in {**OUTCOMES, **REASONS}.items()]
    chips.append(_make_chip(chosen, KIND, _("Kind"), _with(kinds, chosen.kind, name_kind)))
    chips.append(
        _make_chip(chosen, OUTCOME, _("Outcome"), _with(outcomes, chosen.outcome, name_outcome))
    )
    return chips


def _with(options: list[tuple[str, str]], value: str, name: Any) -> list[tuple[str, str]]:
    """Return the options with the chosen one, which an address may name beyond them."""
    return [*options, (value, name(value))] if value and value not in dict(options) else options


def _make_chip(chosen: Chosen, name: str, label: str, options: Sequence[tuple[str, str]]) -> Chip:
    named = chosen.parameters()
    value = named.get(name, "")
    return Chip(
        name=name,
        label=label,
        value=dict(options).get(value, ""),
        options=[(each, told, each == value) for each, told in options],
        hidden=[(each, kept) for each, kept in named.items() if each != name],
        remove=chosen.query(**{name: ""}),
    )


def _offer_connections(chosen: Chosen) -> list[tuple[str, str]]:
    reach = Connection.objects.select_related("user").order_by("-pk")
    if not chosen.sees_all:
        reach = reach.filter(user=chosen.viewer)
    elif chosen.person:
        reach = reach.filter(user=chosen.person)
    offered = list(reach[:MOST_CONNECTIONS])
    if chosen.connection and chosen.connection not in offered:
        offered.append(chosen.connection)
    return [
        (str(each.pk), describe_connection(each, chosen.viewer, with_person=chosen.sees_all))
        for each in offered
    ]


def _offer_people(chosen: Chosen) -> list[tuple[str, str]]:
    """Return those for whom agents act or acted, by name."""
    acted_for = User.objects.filter(pk__in=Connection.objects.values("user")).order_by("name", "pk")
    offered = list(acted_for[:MOST_CONNECTIONS])
    if chosen.person and chosen.person not in offered:
        offered.append(chosen.person)
    return [(str(each.pk), each.name) for each in offered]
