"""A package of evidence: a ZIP file of one moment, which verify_evidence.py checks anywhere.

What was archived of the audit before is not in it: it says behind which events it begins (ADR 22).
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

from zipstream import ZipStream

from agent_access import conf
from agent_access.calls import dump_json
from agent_access.database.transactions import snapshot
from agent_access.evidence.parts import Part, parts
from agent_access.models import ArchiveMark
from agent_access.verification import Position, read_begins, read_heads

__all__ = ["VERIFIER", "write_package"]

FORMAT = "agent-evidence"
VERSION = 1
MANIFEST = "manifest.json"
HEADS = "heads.txt"
BEGINS = "begins.txt"
CHUNK_LENGTH = 64 * 1024
# The program that an auditor copies.
VERIFIER = Path(__file__).with_name("verify_evidence.py")


class Entry:
    """A file of the package: what the manifest tells of it, once it has been read to its end."""

    def __init__(self, name: str, **told: Any) -> None:
        self._told: dict[str, Any] = {"name": name, "size": 0, "count": 0, **told}
        self._digest = hashlib.sha256()

    def chunks(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines, many at once: to compress each by itself would take long."""
        waiting, length = [], 0
        for line in lines:
            waiting.append(line)
            length += len(line)
            self._told["count"] += 1
            if length >= CHUNK_LENGTH:
                yield self._count(b"".join(waiting))
                waiting, length = [], 0
        yield self._count(b"".join(waiting))

    def _count(self, chunk: bytes) -> bytes:
        self._told["size"] += len(chunk)
        self._digest.update(chunk)
        return chunk

    def describe(self) -> Mapping[str, Any]:
        return {**self._told, "sha256": self._digest.hexdigest()}


# An entry, and its lines.
File = tuple[Entry, Iterable[bytes]]


def write_package(*, made_at: datetime) -> Iterator[bytes]:
    """Yield a ZIP file of the heads, all parts, and a manifest of them, in constant memory.

    Everything is read in one transaction, which is open until the file is complete: write it to a
    disk, never to somebody far away.
    """
    with snapshot():
        archives = read_archives()
        told = {"archives": archives} if archives else {}
        yield from write_files(_entries(), made_at=made_at, **told)


def write_files(files: Iterable[File], *, made_at: datetime, **told: Any) -> Iterator[bytes]:
    """Yield a ZIP file of these files and a manifest, which says what else is told."""
    archive, entries = ZipStream(compress_type=ZIP_DEFLATED), []
    for entry, lines in files:
        archive.add(entry.chunks(lines), entry.describe()["name"])
        yield from archive.all_files()
        entries.append(entry.describe())
    told = {"service": conf.base_url(), "made_at": made_at, **told}
    manifest = {"format": FORMAT, "version": VERSION, **told, "files": entries}
    archive.add(dump_json(manifest), MANIFEST)
    yield from archive.finalize()


def read_archives() -> list[Mapping[str, Any]]:
    """Return the files in which the beginnings of the chains are, the oldest first."""
    marks = ArchiveMark.objects.order_by("before", "file_digest").distinct()
    return [
        {"before": before, "sha256": digest}
        for before, digest in marks.values_list("before", "file_digest")
    ]


def position_lines(positions: Mapping[str, Position]) -> Iterator[bytes]:
    """Yield positions in chains as verify_audit prints heads."""
    for chain, at in positions.items():
        yield f"{chain} {at.sequence} {at.digest}\n".encode()


def row_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield dump_json(row) + b"\n"


def _entries() -> Iterator[File]:
    yield Entry(HEADS), position_lines(read_heads())
    if begins := read_begins():
        yield Entry(BEGINS), position_lines(begins)
    for part in parts:
        yield Entry(f"{part.name}.jsonl", **_describe(part)), row_lines(part.rows())


def _describe(part: Part) -> Mapping[str, Any]:
    if not part.is_numbered:
        return {}
    return {"is_numbered": True, "unfrozen": part.unfrozen, "acts": part.acts}
