"""Originals as files in a folder, with an index. No file is ever half written, or replaced."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO

from invoicing.exports.cells import Cell, write_csv
from invoicing.models import Original, OriginalKind
from invoicing.originals.index import INDEX_COLUMNS, INDEX_NAME, index_row
from invoicing.originals.names import file_name_of


def write_originals(originals: Iterable[Original], folder: Path, failures: list[str]) -> None:
    """Write the files that the folder lacks, and an index of all.

    A file that is there with the same content is left. For one that has another content, and for an
    original that no longer fits its digest, a sentence is added to `failures`, and the index does
    not name it. Raises OSError.
    """
    with _written_whole(folder / INDEX_NAME) as index:
        index.writelines(write_csv(_rows(originals, folder, failures)))


def _rows(
    originals: Iterable[Original], folder: Path, failures: list[str]
) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of the index, each when its file is written."""
    yield INDEX_COLUMNS
    for original in originals:
        path = folder / file_name_of(original.document, OriginalKind(original.kind))
        if failure := _write(original, path):
            failures.append(failure)
        else:
            yield index_row(original, path.stat().st_size)


def _write(original: Original, path: Path) -> str:
    """Write the file, unless it is there; return a sentence if it cannot be."""
    if path.exists():
        with path.open("rb") as file:
            is_same = file_digest(file, "sha256").hexdigest() == original.digest
        return "" if is_same else f"{path.name}: the folder has another file of this name."
    content = bytes(original.content)
    if sha256(content).hexdigest() != original.digest:
        return f"{path.name}: what the database holds does not fit its digest."
    with _written_whole(path) as file:
        file.write(content)
    return ""


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
