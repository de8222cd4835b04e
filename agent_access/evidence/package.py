"""A package of evidence: a ZIP file of one moment, which verify_evidence.py checks anywhere."""

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
from agent_access.verification import read_heads

__all__ = ["VERIFIER", "write_package"]

FORMAT = "agent-evidence"
VERSION = 1
MANIFEST = "manifest.json"
HEADS = "heads.txt"
CHUNK_LENGTH = 64 * 1024
# The program that an auditor copies.
VERIFIER = Path(__file__).with_name("verify_evidence.py")


class _Entry:
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


def write_package(*, made_at: datetime) -> Iterator[bytes]:
    """Yield a ZIP file of the heads, all parts, and a manifest of them, in constant memory.

    Everything is read in one transaction, which is open until the file is complete: write it to a
    disk, never to somebody far away.
    """
    archive, entries = ZipStream(compress_type=ZIP_DEFLATED), []
    with snapshot():
        for entry, lines in _entries():
            archive.add(entry.chunks(lines), entry.describe()["name"])
            yield from archive.all_files()
            entries.append(entry.describe())
    archive.add(_manifest(entries, made_at), MANIFEST)
    yield from archive.finalize()


def _entries() -> Iterator[tuple[_Entry, Iterable[bytes]]]:
    yield _Entry(HEADS), _head_lines()
    for part in parts:
        yield _Entry(f"{part.name}.jsonl", **_describe(part)), _json_lines(part)


def _describe(part: Part) -> Mapping[str, Any]:
    if not part.is_numbered:
        return {}
    return {"is_numbered": True, "unfrozen": part.unfrozen, "acts": part.acts}


def _head_lines() -> list[bytes]:
    """Return the heads as verify_audit prints them: read before anything is written."""
    heads = read_heads().items()
    return [f"{chain} {head.sequence} {head.digest}\n".encode() for chain, head in heads]


def _json_lines(part: Part) -> Iterator[bytes]:
    for row in part.rows():
        yield dump_json(row) + b"\n"


def _manifest(entries: list[Mapping[str, Any]], made_at: datetime) -> bytes:
    return dump_json(
        {
            "format": FORMAT,
            "version": VERSION,
            "service": conf.base_url(),
            "made_at": made_at,
            "files": entries,
        }
    )
