"""A page of the timeline: the newest acts before an instant, merged from their sources.

However much happened, a page reads a bounded number of rows by index. A filter without an index
looks at the newest LOOKED_AT rows only, and the page says from where it may go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from agent_access.audit import OK
from agent_access.timeline.sources import DECISIONS, SOURCES, Act, Kind, Source

PAGE_LENGTH = 60
LOOKED_AT = 2000
# As an outcome: whatever the reason.
REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Whose acts are asked for, and which: all connections' if `connection_ids` is None.

    `action` is a tool's name or one of DECISIONS, and `outcome` OK, REFUSED or an error's code;
    empty is any.
    """

    connection_ids: Sequence[UUID] | None = None
    action: str = ""
    outcome: str = ""

    @property
    def is_of_nobody(self) -> bool:
        return self.connection_ids is not None and not self.connection_ids

    def takes(self, kind: Kind) -> bool:
        """Return whether acts of this kind may have the action and the outcome."""
        if self.action and (self.action in DECISIONS) != (kind is Kind.DECISION):
            return False
        if self.outcome in {"", OK}:
            return kind is not Kind.REFUSAL or not self.outcome
        return kind is Kind.REFUSAL

    @property
    def narrows(self) -> Q:
        """The condition on rows for which there is no index, but that on the action."""
        return Q() if self.outcome in {"", OK, REFUSED} else Q(outcome=self.outcome)


@dataclass(frozen=True)
class Page:
    """Acts, the newest first; `next_before` is where older ones go on, None if there are none."""

    acts: list[Act]
    next_before: datetime | None


def read_page(asked: Asked, *, before: datetime | None = None) -> Page:
    """Return the newest acts before an instant; those of one instant are never torn apart."""
    acts: list[Act] = []
    floors: list[datetime] = []
    for source in SOURCES:
        if asked.takes(source.kind) and not asked.is_of_nobody:
            found, floor = _read_source(source, asked, before=before)
            acts += found
            if floor is not None:
                floors.append(floor)
    floor = max(floors, default=None)
    # Below it there may be acts of another source that were not read.
    shown = [act for act in acts if floor is None or act.at >= floor]
    shown.sort(key=lambda act: act.at, reverse=True)
    kept = _cut(shown)
    return Page(kept, kept[-1].at if len(kept) < len(shown) else floor)


def _read_source(
    source: Source, asked: Asked, *, before: datetime | None
) -> tuple[list[Act], datetime | None]:
    """Return the newest acts of a source, and the instant below which there may be more."""
    rows, floor = source.narrow(asked.connection_ids, before=before), None
    wanted = asked.narrows & (Q(**{source.action: asked.action}) if asked.action else Q())
    several = len(asked.connection_ids or ()) > 1
    if wanted or several:
        shares = len(asked.connection_ids or (None,))
        depth = max(LOOKED_AT // shares, PAGE_LENGTH) if wanted else PAGE_LENGTH
        floor = source.find_floor(asked.connection_ids, before=before, depth=depth)
        if floor is not None:
            rows = rows.filter(**{f"{source.time}__gte": floor})
    newest = rows.filter(wanted).order_by(f"-{source.time}").values_list(*source.columns)
    acts = [source.read(*row) for row in newest[: PAGE_LENGTH + 1]]
    kept = _cut(acts)
    return kept, kept[-1].at if len(kept) < len(acts) else floor


def _cut(acts: list[Act]) -> list[Act]:
    """Return a page of sorted acts, without some of an instant if others of it are beyond."""
    if len(acts) <= PAGE_LENGTH:
        return acts
    whole = [act for act in acts[:PAGE_LENGTH] if act.at > acts[PAGE_LENGTH].at]
    return whole or acts
