"""The audit events of how a document came to be, each with whether it is what was written."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from agent_access.audit import digest_event
from agent_access.models import ADMINISTRATION, AuditEvent
from agent_access.tools import registry
from agent_access.verification import Position, read_begins
from invoicing.models import Document

# An event is written in the transaction of its act, which may have waited for locks before.
LATER = timedelta(minutes=1)
EARLIER = timedelta(seconds=1)
# The most events of one connection, in their order, that are looked at for one document.
MOST_READ = 20_000
# The most connections whose events are looked at.
MOST_CONNECTIONS = 20


@dataclass(frozen=True)
class CheckedEvent:
    """An event, and whether its digest is that of what is stored and of the event before it."""

    event: AuditEvent
    is_whole: bool


def read_events(
    document: Document, *, approvals: Collection[UUID], connections: Sequence[UUID]
) -> list[CheckedEvent]:
    """Return the events by which an issued document came to be, the oldest first.

    These are writes and decisions about the document and these approvals, by these connections,
    and the issue by hand. No index leads from a document to its events, so of each connection those
    from the making of the draft to its issue are looked at, up to MOST_READ.
    """
    targets = [str(pk) for pk in (document.pk, *approvals)]
    found: list[AuditEvent] = []
    for connection_id in connections[:MOST_CONNECTIONS]:
        found += _of_connection(document, connection_id, targets)
    found += _by_hand(document)
    found.sort(key=lambda event: (event.occurred_at, event.pk))
    return list(_check(found))


def _of_connection(
    document: Document, connection_id: UUID, targets: Sequence[str]
) -> Iterator[AuditEvent]:
    looked_at = (
        AuditEvent.objects.filter(
            connection_id=connection_id, occurred_at__range=_time_of(document, document.created_at)
        )
        .exclude(chain=ADMINISTRATION)
        .order_by("occurred_at")
        .values("pk")[:MOST_READ]
    )
    reads = [tool.name for tool in registry if not tool.writes]
    about = AuditEvent.objects.filter(pk__in=looked_at, target__in=targets)
    return about.exclude(action__in=reads).iterator()


def _by_hand(document: Document) -> Iterator[AuditEvent]:
    assert document.issued_at  # noqa: S101  it is issued
    return AuditEvent.objects.filter(
        occurred_at__range=_time_of(document, document.issued_at),
        chain=ADMINISTRATION,
        action="document:issued",
        target=str(document.pk),
    ).iterator()


def _time_of(document: Document, begin: datetime) -> tuple[datetime, datetime]:
    end = document.issued_at or document.updated_at
    return begin - EARLIER, end + LATER


def _check(found: Sequence[AuditEvent]) -> Iterator[CheckedEvent]:
    """Yield the events but those that are archived, which may be leaving just now."""
    begins = read_begins()
    events = [
        event for event in found if event.sequence > begins.get(event.chain, Position()).sequence
    ]
    by_chain: dict[str, list[int]] = {}
    for event in events:
        by_chain.setdefault(event.chain, []).append(event.sequence - 1)
    digests = {(chain, at.sequence): at.digest for chain, at in begins.items()}
    for chain, sequences in by_chain.items():
        before = AuditEvent.objects.filter(chain=chain, sequence__in=sequences)
        for sequence, digest in before.values_list("sequence", "digest"):
            digests[chain, sequence] = digest
        digests[chain, 0] = ""
    for event in events:
        previous = digests.get((event.chain, event.sequence - 1))
        is_whole = previous is not None and event.digest == digest_event(
            event, previous_digest=previous
        )
        yield CheckedEvent(event, is_whole)
