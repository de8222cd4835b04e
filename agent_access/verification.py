"""Proof of the audit chains: every event is what was written, in its place, and none is missing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Case, F, Max, QuerySet, When
from django.utils import timezone

from agent_access.audit import digest_columns
from agent_access.models import (
    ADMINISTRATION,
    AccessSettings,
    ArchiveMark,
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
# Of a proof in parts: so many events of a chain are proved at once.
BLOCK_SIZE = 100_000


@dataclass(frozen=True)
class Position:
    """A place in a chain: a sequence number and the digest of the event there."""

    sequence: int = 0
    digest: str = ""


Positions = Mapping[str, Position]
# Digests that were kept of a chain, by sequence number.
Known = Mapping[int, str]


@dataclass(frozen=True)
class Break:
    """The first event of a chain that is not what was written."""

    chain: str
    sequence: int
    problem: str


@dataclass(frozen=True)
class Part:
    """One of several parts of a proof, each of which may be done anywhere and at any time.

    All of them together prove what one run proves: each event is in the block of one part, and a
    block begins with the stored digest of the event before it, which the part of that event proves.
    """

    number: int
    count: int

    def has(self, block: int) -> bool:
        return block % self.count == self.number - 1


WHOLE = Part(1, 1)


@dataclass
class Proof:
    """What a run found: the first break of each chain that has one, and where the others end.

    `archived` is of how many chains a kept head is of an event that is in an archive, which a run
    cannot compare: verify_evidence.py does, with the archive.
    """

    breaks: list[Break] = field(default_factory=list)
    ends: dict[str, Position] = field(default_factory=dict)
    archived: int = 0


class ChainBrokenError(Exception):
    """Where in the chain that is walked, as a sequence number, and what is wrong there."""


def find_breaks(expected: Positions | None = None) -> Iterator[Break]:
    """Walk every chain and yield the first break of each; see `prove`."""
    yield from prove(expected).breaks


def prove(
    expected: Positions | None = None, *, since: Positions | None = None, part: Part = WHOLE
) -> Proof:
    """Walk every chain from its beginning, or from behind what was archived.

    `expected` holds heads by chain that were kept elsewhere; they reveal a chain that was rewritten
    or shortened together with its head. `since` holds such heads, too, up to which an earlier run
    has proved the chains: each is walked from there on. Calls may go on meanwhile.
    """
    expected, since, found = expected or {}, since or {}, Proof()
    marks = read_marks()
    chains = set(ChainHead.objects.values_list("chain", flat=True))
    chains |= set(_read_chains()).union(marks, since, expected)
    chains |= set(map(str, Connection.objects.values_list("id", flat=True)))
    for chain in sorted(chains):
        kept = [each[chain] for each in (expected, since) if chain in each]
        try:
            start, end = _prove_chain(chain, marks.get(chain, []), kept, since.get(chain), part)
            found.archived += any(0 < each.sequence < start.sequence for each in kept)
            found.ends[chain] = end
        except ChainBrokenError as broken:
            found.breaks.append(Break(chain, *broken.args))
    return found


def _prove_chain(
    chain: str,
    marks: Sequence[Position],
    kept: Sequence[Position],
    proved: Position | None,
    part: Part,
) -> tuple[Position, Position]:
    """Return what the first event follows, and where the chain ends; raises ChainBrokenError.

    Events may leave for an archive while they are walked. Where one is missing up to the mark of
    that, the chain is walked once more, from the mark.
    """
    start = _find_start(chain, marks)
    while True:
        known = [each for each in (*marks, *kept) if each.sequence >= start.sequence]
        try:
            begin = _skip_proved(chain, start, proved)
            return start, _verify_chain(chain, begin, known, part)
        except ChainBrokenError as broken:
            sequence, problem = broken.args
            marks = read_marks(chain=chain).get(chain, [])
            newest = marks[-1] if marks else start
            if problem != MISSING or newest.sequence < max(sequence, start.sequence + 1):
                raise
            start = newest


def read_marks(**chosen: str) -> dict[str, list[Position]]:
    """Return where the archives of each chain end, or of the chosen one, the oldest first."""
    marks: dict[str, list[Position]] = {}
    rows = ArchiveMark.objects.filter(**chosen).order_by("chain", "sequence")
    for chain, sequence, digest in rows.values_list("chain", "sequence", "digest"):
        marks.setdefault(chain, []).append(Position(sequence, digest))
    return marks


def read_begins() -> dict[str, Position]:
    """Return behind what each chain goes on that was archived."""
    return {chain: marks[-1] for chain, marks in read_marks().items()}


def read_archived_before() -> datetime | None:
    """Return before which moment events are in archives, and no longer here."""
    before: datetime | None = ArchiveMark.objects.aggregate(Max("before"))["before__max"]
    return before


def _read_chains() -> Iterator[str]:
    """Yield the chains that have events, each found by one step in the index.

    A single statement would read every event, and time out with many millions of them.
    """
    chains = AuditEvent.objects.order_by("chain").values_list("chain", flat=True)
    chain = chains.first()
    while chain is not None:
        yield chain
        chain = chains.filter(chain__gt=chain).first()


def _find_start(chain: str, archived: Sequence[Position]) -> Position:
    """Return what the first event of the chain should follow.

    That is the last mark, also while the events up to it are being removed; or, as long as none of
    these is gone, what they themselves follow.
    """
    numbers = AuditEvent.objects.filter(chain=chain).order_by("sequence")
    first = numbers.values_list("sequence", flat=True).first()
    ends = [Position(), *archived]
    return next((end for end in ends if end.sequence + 1 == first), ends[-1])


def _skip_proved(chain: str, start: Position, proved: Position | None) -> Position:
    """Return where the earlier run ended, if that is behind the start and still there."""
    if proved is None or proved.sequence <= start.sequence:
        return start
    if _read_position(chain, proved.sequence) != proved:
        raise ChainBrokenError(proved.sequence, REWRITTEN)
    return proved


def _read_position(chain: str, sequence: int) -> Position:
    """Return the position with this number; raises ChainBrokenError if there is none."""
    events = AuditEvent.objects.filter(chain=chain, sequence=sequence)
    digest = events.values_list("digest", flat=True).first()
    if digest is None:
        raise ChainBrokenError(sequence, MISSING)
    return Position(sequence, digest)


def _verify_chain(chain: str, start: Position, kept: Sequence[Position], part: Part) -> Position:
    """Return where the chain ends, or the last block of this part; raises ChainBrokenError."""
    if AuditEvent.objects.filter(chain=chain, sequence__lt=1).exists():
        raise ChainBrokenError(0, CHANGED)
    if not ChainHead.objects.filter(chain=chain).exists():
        raise ChainBrokenError(0, HEAD_GONE)
    known: dict[int, str] = {}
    for each in (start, *kept):
        if known.setdefault(each.sequence, each.digest) != each.digest:
            raise ChainBrokenError(each.sequence, REWRITTEN)
    if part == WHOLE:
        return _verify_range(chain, start, None, known)
    reached = start
    borders = list(_borders(chain, start))
    for begin, end in zip(borders, [*borders[1:], None], strict=True):
        if part.has(begin // BLOCK_SIZE):
            before = start if begin == start.sequence else _read_position(chain, begin)
            reached = _verify_range(chain, before, end, known)
    return reached


def _borders(chain: str, start: Position) -> Iterator[int]:
    """Yield after which numbers the blocks of a chain begin; nothing bounds the last one."""
    events = AuditEvent.objects.filter(chain=chain).order_by("-sequence")
    last = events.values_list("sequence", flat=True).first() or 0
    yield start.sequence
    first_border = (start.sequence // BLOCK_SIZE + 1) * BLOCK_SIZE
    yield from range(first_border, max(last, _read_head(chain).sequence) + 1, BLOCK_SIZE)


def _verify_range(chain: str, start: Position, end: int | None, known: Known) -> Position:
    """Return the last position, having proved every event up to the end, or to the head."""
    reached, head = start, _read_head(chain)
    while True:
        reached = _walk(chain, reached, end, known)
        if reached.sequence == end:
            return reached
        if reached.sequence < head.sequence:
            raise ChainBrokenError(reached.sequence + 1, MISSING)
        # Calls append while we read, and each moves the head with its event.
        before, head = head, _read_head(chain)
        if head == reached:
            break
        if head == before:
            raise ChainBrokenError(reached.sequence, BEHIND_HEAD)
    if any(sequence > reached.sequence for sequence in known):
        raise ChainBrokenError(reached.sequence + 1, MISSING)
    return reached


def _walk(chain: str, start: Position, end: int | None, known: Known) -> Position:
    """Return the last position after the start, having proved every event up to it."""
    reached = start
    while batch := _read_batch(chain, after=reached.sequence, end=end):
        for event in batch:
            reached = follow(reached, event)
            if known.get(reached.sequence, reached.digest) != reached.digest:
                raise ChainBrokenError(reached.sequence, REWRITTEN)
    return reached


def follow(reached: Position, event: Mapping[str, Any]) -> Position:
    """Return the position of the next event, read as its values; raises ChainBrokenError."""
    due = reached.sequence + 1
    if event["sequence"] != due:
        raise ChainBrokenError(due, MISSING)
    if event["digest"] != digest_columns(event, previous_digest=reached.digest):
        raise ChainBrokenError(due, CHANGED)
    return Position(due, event["digest"])


def _read_batch(chain: str, *, after: int, end: int | None) -> list[dict[str, Any]]:
    """Return the next events; a single statement would time out on a long chain.

    So would a cursor outside a transaction: PostgreSQL runs it to the end before the first row.
    """
    events = AuditEvent.objects.filter(chain=chain, sequence__gt=after)
    if end is not None:
        events = events.filter(sequence__lte=end)
    rows: Any = events.order_by("sequence").values()[:BATCH_SIZE]
    return list(rows)


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
