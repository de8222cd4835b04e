"""Proof of the audit chains: every event is what was written, in its place, and none is missing."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from django.db import DatabaseError, transaction
from django.db.models import Case, F, QuerySet, When
from django.utils import timezone

from agent_access.audit import digest_event
from agent_access.models import (
    ADMINISTRATION,
    AccessSettings,
    AuditEvent,
    ChainHead,
    Connection,
)

MISSING = "an event is missing here"
CHANGED = "this event was changed or moved, or follows one that was"
BEHIND_HEAD = "the head of the chain is not at its last event"
HEAD_GONE = "the head of the chain is missing"
REWRITTEN = "the chain is not the one whose head was kept elsewhere"

BATCH_SIZE = 1000


@dataclass(frozen=True)
class Position:
    """A place in a chain: a sequence number and the digest of the event there."""

    sequence: int = 0
    digest: str = ""


@dataclass(frozen=True)
class Break:
    """The first event of a chain that is not what was written."""

    chain: str
    sequence: int
    problem: str


class ChainBrokenError(Exception):
    """Where in the chain that is walked, as a sequence number, and what is wrong there."""


def find_breaks(expected: Mapping[str, Position] | None = None) -> Iterator[Break]:
    """Walk every chain and yield the first break of each.

    `expected` holds heads by chain that were kept elsewhere; they reveal a chain that was rewritten
    or shortened together with its head. Calls may go on meanwhile.
    """
    expected = expected or {}
    chains = set(ChainHead.objects.values_list("chain", flat=True))
    chains |= set(_read_chains())
    chains |= set(map(str, Connection.objects.values_list("id", flat=True)))
    for chain in sorted(chains | set(expected)):
        try:
            _verify_chain(chain, expected.get(chain))
        except ChainBrokenError as broken:
            yield Break(chain, *broken.args)


def _read_chains() -> Iterator[str]:
    """Yield the chains that have events, each found by one step in the index.

    A single statement would read every event, and time out with many millions of them.
    """
    chains = AuditEvent.objects.order_by("chain").values_list("chain", flat=True)
    chain = chains.first()
    while chain is not None:
        yield chain
        chain = chains.filter(chain__gt=chain).first()


def _verify_chain(chain: str, expected: Position | None) -> None:
    if AuditEvent.objects.filter(chain=chain, sequence__lt=1).exists():
        raise ChainBrokenError(0, CHANGED)
    if not ChainHead.objects.filter(chain=chain).exists():
        raise ChainBrokenError(0, HEAD_GONE)
    reached, head = Position(), _read_head(chain)
    while True:
        reached = _walk(chain, reached, expected)
        if reached.sequence < head.sequence:
            raise ChainBrokenError(reached.sequence + 1, MISSING)
        # Calls append while we read, and each moves the head with its event.
        before, head = head, _read_head(chain)
        if head == reached:
            break
        if head == before:
            raise ChainBrokenError(reached.sequence, BEHIND_HEAD)
    if expected and expected.sequence > reached.sequence:
        raise ChainBrokenError(reached.sequence + 1, MISSING)


def _walk(chain: str, start: Position, expected: Position | None) -> Position:
    """Return the last position after the start, having proved every event up to it."""
    reached = start
    while batch := _read_batch(chain, after=reached.sequence):
        for event in batch:
            due = reached.sequence + 1
            if event.sequence != due:
                raise ChainBrokenError(due, MISSING)
            if event.digest != digest_event(event, previous_digest=reached.digest):
                raise ChainBrokenError(due, CHANGED)
            reached = Position(due, event.digest)
            if expected and expected.sequence == due and expected != reached:
                raise ChainBrokenError(due, REWRITTEN)
    return reached


def _read_batch(chain: str, *, after: int) -> list[AuditEvent]:
    """Return the next events; a single statement would time out on a long chain.

    So would a cursor outside a transaction: PostgreSQL runs it to the end before the first row.
    """
    events = AuditEvent.objects.filter(chain=chain, sequence__gt=after)
    return list(events.order_by("sequence")[:BATCH_SIZE])


def _read_head(chain: str) -> Position:
    head = ChainHead.objects.filter(chain=chain).values_list("sequence", "digest").first()
    return Position(*head) if head else Position()


def read_heads() -> dict[str, Position]:
    """Return where every chain ends, to be kept elsewhere."""
    return _read_positions(ChainHead.objects.order_by("chain"))


def read_latest_heads(most: int) -> dict[str, Position]:
    """Return so many heads: the administration's, and of the connections that called last."""
    is_administration = Case(When(chain=ADMINISTRATION, then=0), default=1)
    latest = ChainHead.objects.order_by(
        is_administration, F("last_used_at").desc(nulls_last=True), "chain"
    )
    return dict(sorted(_read_positions(latest[:most]).items()))


def _read_positions(heads: QuerySet[ChainHead]) -> dict[str, Position]:
    rows = heads.values_list("chain", "sequence", "digest")
    return {chain: Position(sequence, digest) for chain, sequence, digest in rows}


def write_heads(heads: Mapping[str, Position]) -> str:
    """Return the heads as `verify_audit` prints them, and takes them: a line for each chain."""
    return "".join(f"{chain} {at.sequence} {at.digest}\n" for chain, at in heads.items())


def keep_result(*, broken: int) -> None:
    """Keep that all chains were verified now, and how many were broken, for the owner's page.

    In a copy of the database that nobody can write to, nothing is kept.
    """
    found = {"audit_verified_at": timezone.now(), "chains_broken": broken}
    with suppress(DatabaseError), transaction.atomic():
        AccessSettings.objects.update_or_create(pk=AccessSettings.ONLY_ID, defaults=found)
