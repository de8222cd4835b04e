"""What must not be of an archive of originals: a document left out, or a file that is another."""

import csv
import hashlib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from io import BytesIO
from zipfile import BadZipFile, ZipFile

INDEX = "index.csv"


def find_flaws(
    name: str,
    content: bytes,
    *,
    known: AbstractSet[str],
    wanted: AbstractSet[str],
    kept: AbstractSet[tuple[str, str]],
) -> Iterator[str]:
    """Compare the ZIP file of this name with what it should hold.

    `known` are the numbers that there were when it came, `wanted` those that there were before it
    was asked for, and `kept` the originals that the database has, as number and SHA-256.
    """
    try:
        with ZipFile(BytesIO(content)) as archive:
            rows = list(csv.DictReader(archive.read(INDEX).decode("utf-8-sig").splitlines()))
            digests = {
                each: hashlib.sha256(archive.read(each)).hexdigest()
                for each in archive.namelist()
                if each != INDEX
            }
    except (BadZipFile, KeyError) as error:
        yield f"{name} cannot be read: {error}"
        return
    numbers = {row["Number"] for row in rows}
    yield from (f"{name} has {number}, which there was not" for number in numbers - known)
    yield from (f"{name} lacks {number}" for number in wanted - numbers)
    yield from (f"{name} has {file} twice or unnamed" for file in _find_unnamed(digests, rows))
    for row in rows:
        if not row["File"]:
            # What cannot be made has its reason there.
            if not row["Why it is missing"]:
                yield f"{name} lacks a file of {row['Number']} without a reason"
        elif digests.get(row["File"]) != row["SHA-256"]:
            yield f"{name} has another {row['File']} than its index says"
        elif (row["Number"], row["SHA-256"]) not in kept:
            yield f"{name} has {row['File']}, which is not kept so"


def _find_unnamed(digests: dict[str, str], rows: list[dict[str, str]]) -> list[str]:
    """Return the files that the index does not name once."""
    named = [row["File"] for row in rows]
    return [file for file in digests if named.count(file) != 1]
