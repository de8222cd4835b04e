"""Originals as files in a folder, with an index. No file is ever half written, or replaced."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO

from invoicing.models import Original
from invoicing.originals.index import INDEX_HEAD, INDEX_NAME, index_row
from invoicing.originals.periods import Found


def write_originals(originals: Iterable[Found], folder: Path) -> list[str]:
    """Write the files that the folder lacks, and an index of all; return what failed, in sentences.

    A file that is there with the same content is left. One that has another content, and an
    original that no longer fits its digest, are failures. Raises OSError.
    """
    failures = []
    with _written_whole(folder / INDEX_NAME) as index:
        index.write(INDEX_HEAD)
        for each in originals:
            found, path = each, folder / each.file_name
            if each.original and (failure := _write(each.original, path)):
                found = each._replace(original=None, failure=failure)
            index.write(index_row(found, path.stat().st_size if found.original else 0))
            failures += [found.sentence] if found.failure else []
    return failures


def _write(original: Original, path: Path) -> str:
    """Write the file, unless it is there; return a sentence if it cannot be."""
    if path.exists():
        return "" if _has(path, original.digest) else "The folder has another file of this name."
    content = original.read_content()
    if sha256(content).hexdigest() != original.digest:
        return "What the database holds does not fit its digest."
    with _written_whole(path) as file:
        file.write(content)
    return ""


def _has(path: Path, digest: str) -> bool:
    if not path.is_file():  # but a folder, or a pipe that nobody writes to
        return False
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == digest


@contextmanager
def _written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that gets its name, and is on the disk, when all of it is written."""
    partial = path.with_name(f".{path.name}.part")
    partial.unlink(missing_ok=True)  # of a run that broke off, or somebody's link to another file
    with partial.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
