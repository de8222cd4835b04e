"""Archives of the audit: its events of before a day, in a file as evidence is (ADR 22).

An archive is written and verified first. Only then, by the owner of the tables, is its end marked
in each chain, and its events are removed. PostgreSQL's triggers let nobody else do that, and
nothing else be removed.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from django.db import DatabaseError, connection, transaction
from django.db.models import Max, Min
from django.utils import timezone

from agent_access.audit import Actor, lock_administration, record_act
from agent_access.evidence.files import is_named, sync_file
from agent_access.evidence.package import (
    BEGINS,
    HEADS,
    Entry,
    position_lines,
    row_lines,
    write_files,
)
from agent_access.evidence.verify_evidence import (
    EVENTS,
    UnreadableError,
    examine,
    shown,
)
from agent_access.models import ArchiveMark, AuditEvent, ChainHead
from agent_access.verification import ChainBrokenError, Position, follow, read_begins

BATCH_SIZE = 2000
REMOVED_AT_ONCE = 5000
# What PostgreSQL calls an error that a trigger of ours raised.
RAISED = "P0001"
READ_AT_ONCE = 1 << 20

Ends = dict[str, Position]


class ArchiveError(Exception):
    """Why nothing was archived or removed, as a sentence."""


@dataclass(frozen=True)
class Archive:
    """A file that was verified: where it ends in each chain, how much is in it, its SHA-256."""

    before: datetime
    begins: Mapping[str, Position]
    ends: Mapping[str, Position]
    events: int
    digest: str


def write_archive(file: BinaryIO, *, before: datetime) -> None:
    """Write each chain's events up to the first one that is not before this moment.

    What was archived already is left out. Each event is proved as it is read. Raises ArchiveError.
    """
    ends: Ends = {}
    files = [
        (Entry(EVENTS), row_lines(_read_old(before, ends))),
        (Entry(BEGINS), _lines_of(lambda: {c: p for c, p in read_begins().items() if c in ends})),
        (Entry(HEADS), _lines_of(lambda: ends)),
    ]
    file.writelines(write_files(files, made_at=timezone.now(), archive={"before": before}))
    if not ends:
        raise ArchiveError(f"No event is from before {before:%Y-%m-%d}.")


def _lines_of(positions: Callable[[], Mapping[str, Position]]) -> Iterator[bytes]:
    """Yield what is known only when the events have been written."""
    yield from position_lines(positions())


def _read_old(before: datetime, ends: Ends) -> Iterator[Mapping[str, Any]]:
    begins = read_begins()
    chains = ChainHead.objects.order_by("chain").values_list("chain", flat=True)
    for chain in list(chains):
        reached = begins.get(chain, Position())
        for event in _read_chain(chain, after=reached.sequence):
            if event["occurred_at"] >= before:
                break
            try:
                reached = ends[chain] = follow(reached, event)
            except ChainBrokenError as broken:
                sequence, problem = broken.args
                raise ArchiveError(f"The chain is broken: {chain} {sequence}: {problem}.") from None
            yield event


def _read_chain(chain: str, *, after: int) -> Iterator[Mapping[str, Any]]:
    events = AuditEvent.objects.filter(chain=chain).order_by("sequence").values()
    while batch := list(events.filter(sequence__gt=after)[:BATCH_SIZE]):
        yield from batch
        after = batch[-1]["sequence"]


def read_archive(opened: BinaryIO, file: Path) -> Archive:
    """Verify an opened archive as an auditor would, and return what it holds; raises ArchiveError.

    Everything is said as it was verified, and that is what the digest is of.
    """
    digest = _digest_of(opened)
    try:
        package, report = examine(opened, None, None)
    except UnreadableError as error:
        raise ArchiveError(f"{file} does not pass the verifier: {error}") from None
    if report.problems:
        raise ArchiveError(f"{file} does not pass the verifier: {shown(report.problems[0])}.")
    if package.before is None:
        raise ArchiveError(f"{file} is evidence, but no archive.")
    if _digest_of(opened) != digest:
        raise ArchiveError(f"{file} was changed while it was read.")
    return Archive(
        before=package.before,
        begins=_positions(report.begins),
        ends=_positions(report.ends),
        events=package.files[EVENTS]["count"],
        digest=digest,
    )


def _positions(read: Mapping[str, tuple[int, str]]) -> Ends:
    return {chain: Position(*at) for chain, at in read.items()}


def _digest_of(opened: BinaryIO) -> str:
    opened.seek(0)
    digest = hashlib.sha256()
    while piece := opened.read(READ_AT_ONCE):
        digest.update(piece)
    return digest.hexdigest()


def remove_file(file: Path, *, by: Actor) -> int:
    """Remove the events of an archive, once it is on the disk; see `remove_archived`.

    The file is opened once, and is still the one of this name when the events go.
    """
    try:
        with file.open("rb") as opened:
            archive = read_archive(opened, file)
            sync_file(opened, file)
            if not is_named(opened, file):
                raise ArchiveError(f"{file} was replaced while it was read.")
            return remove_archived(archive, by=by)
    except OSError as error:
        raise ArchiveError(f"{file} cannot be read: {error.strerror}.") from error


def remove_archived(archive: Archive, *, by: Actor) -> int:
    """Mark where the archive ends, and remove its events; return how many were still there.

    May be broken off and repeated: what is marked is removed then. Raises ArchiveError.
    """
    if connection.vendor != "postgresql":
        raise ArchiveError("Events are removed on PostgreSQL only.")
    try:
        _mark(archive, by)
    except DatabaseError as error:
        cause: Any = error.__cause__
        if getattr(cause, "sqlstate", None) != RAISED:
            raise
        raise ArchiveError(f"The database refuses: {cause.diag.message_primary}.") from error
    return sum(_remove(chain, end.sequence) for chain, end in archive.ends.items())


@transaction.atomic
def _mark(archive: Archive, by: Actor) -> None:
    lock_administration()
    ends = {(chain, end.sequence, end.digest) for chain, end in archive.ends.items()}
    marks = ArchiveMark.objects.filter(chain__in=archive.ends)
    if ends <= {*marks.values_list("chain", "sequence", "digest")}:
        return  # an earlier run was broken off
    begins = read_begins()
    for chain in archive.ends:
        if begins.get(chain, Position()) != archive.begins.get(chain, Position()):
            raise ArchiveError(f"The archive does not go on where the last one of {chain} ended.")
    now = timezone.now()
    ArchiveMark.objects.bulk_create(
        ArchiveMark(
            chain=chain,
            sequence=end.sequence,
            digest=end.digest,
            before=archive.before,
            file_digest=archive.digest,
            archived_at=now,
        )
        for chain, end in archive.ends.items()
    )
    told = f"{archive.events} events before {archive.before:%Y-%m-%d}, SHA-256 {archive.digest}"
    record_act("audit:archived", by, target="audit", detail=told)


def _remove(chain: str, last: int) -> int:
    """Remove the chain's events up to the last, in transactions of a moment each."""
    events = AuditEvent.objects.filter(chain=chain, sequence__lte=last)
    bounds = events.aggregate(first=Min("sequence"), last=Max("sequence"))
    if bounds["first"] is None:
        return 0
    removed = 0
    for begin in range(bounds["first"], bounds["last"] + 1, REMOVED_AT_ONCE):
        removed += events.filter(sequence__lt=begin + REMOVED_AT_ONCE).delete()[0]
    return removed
