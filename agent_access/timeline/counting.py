"""How much agents did since a day: calls by day, writes and refusals by tool."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Subquery

from agent_access.models import ADMINISTRATION, AuditEvent, ChainHead, Connection, Receipt
from agent_access.timeline.sources import find_beside_calls, find_refused

# The connections that were used last; of more than so many, the others' calls are left out.
MOST_CONNECTIONS = 100
# So many rows are read to be counted; of more, it is said that there are more.
MOST_COUNTED = 1000


@dataclass(frozen=True)
class Refusals:
    """How often calls of a tool ended with an error's code, and when the last did."""

    action: str
    code: str
    count: int
    last_at: datetime


def count_calls(
    connection_ids: Sequence[UUID] | None, *, mornings: Sequence[datetime]
) -> list[int]:
    """Return how many calls began between each of these instants and the next, or now.

    Nothing is counted row by row: a connection's events are numbered, so that the first of each day
    tell how many there were between. Two calls of the same moment at midnight may swap their days.
    """
    heads = _find_used(connection_ids, since=mornings[0])
    firsts = _read_first_sequences(list(heads), mornings)
    counts = [0] * len(mornings)
    for connection_id, sequences in firsts.items():
        after_last = heads[connection_id] + 1
        marks = [*(after_last if each is None else each for each in sequences), after_last]
        for number in range(len(mornings)):
            counts[number] += max(marks[number + 1] - marks[number], 0)
    for number, beside in _count_beside(list(heads), mornings).items():
        counts[number] = max(counts[number] - beside, 0)
    return counts


def _find_used(connection_ids: Sequence[UUID] | None, *, since: datetime) -> dict[UUID, int]:
    """Return the last number of each connection's events, of those used since then."""
    heads = ChainHead.objects.exclude(chain=ADMINISTRATION).filter(last_used_at__gte=_minute(since))
    if connection_ids is not None:
        heads = heads.filter(chain__in=[str(each) for each in connection_ids])
    newest = heads.order_by("-last_used_at").values_list("chain", "sequence")[:MOST_CONNECTIONS]
    return {UUID(chain): sequence for chain, sequence in newest}


def _minute(moment: datetime) -> datetime:
    """Return the minute, since the last use is kept to the minute."""
    return moment.replace(second=0, microsecond=0)


def _read_first_sequences(
    connection_ids: Sequence[UUID], mornings: Sequence[datetime]
) -> dict[UUID, list[int | None]]:
    """Return for each connection the number of its first event from each instant on."""
    own = AuditEvent.objects.filter(connection_id=OuterRef("pk")).exclude(chain=ADMINISTRATION)
    firsts = {
        f"first_{number}": Subquery(
            own.filter(occurred_at__gte=morning).order_by("occurred_at").values("sequence")[:1]
        )
        for number, morning in enumerate(mornings)
    }
    rows = Connection.objects.filter(pk__in=connection_ids).annotate(**firsts)
    return {pk: sequences for pk, *sequences in rows.values_list("pk", *firsts)}


def _count_beside(connection_ids: Sequence[UUID], mornings: Sequence[datetime]) -> Counter[int]:
    """Count what chains hold besides calls, by the number of the instant before it."""
    beside = find_beside_calls().filter(
        connection_id__in=connection_ids, occurred_at__gte=mornings[0]
    )
    moments = beside.values_list("occurred_at", flat=True)[: MOST_COUNTED * 10]
    return Counter(bisect_right(mornings, moment) - 1 for moment in moments)


def read_written(
    connection_ids: Sequence[UUID] | None, *, since: datetime
) -> list[tuple[str, UUID | None]]:
    """Return the tool and the record of each write since then: at most MOST_COUNTED, the newest."""
    receipts = Receipt.objects.filter(created_at__gte=since)
    if connection_ids is not None:
        receipts = receipts.filter(connection__in=connection_ids)
    return list(receipts.order_by("-created_at").values_list("tool", "record_id")[:MOST_COUNTED])


def count_refusals(connection_ids: Sequence[UUID] | None, *, since: datetime) -> list[Refusals]:
    """Return the refusals since then by tool and code, most often first.

    At most MOST_COUNTED are read, the newest.
    """
    refused = find_refused().filter(occurred_at__gte=since)
    if connection_ids is not None:
        refused = refused.filter(connection_id__in=connection_ids)
    newest = refused.order_by("-occurred_at").values_list("action", "outcome", "occurred_at")
    moments: dict[tuple[str, str], list[datetime]] = {}
    for action, code, at in newest[:MOST_COUNTED]:
        moments.setdefault((action, code), []).append(at)
    found = [Refusals(*key, len(at), at[0]) for key, at in moments.items()]
    return sorted(found, key=lambda each: each.count, reverse=True)
