"""The verifier of evidence reads files of strangers: it always answers, and is never deceived."""

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_access.evidence.verify_evidence import verify
from tests.evidence.conftest import books, export  # noqa: F401  fixtures
from tests.evidence.packages import MANIFEST, read_files, write_files, write_with_manifest
from tests.fuzzing.effort import tally, try_hard
from tests.fuzzing.mutations import ODD_BYTES, ODD_TEXTS, spoilt_bytes, spoilt_values

# The program is the same whatever the database, and the package that it reads.
pytestmark = [pytest.mark.sqlite, pytest.mark.django_db]

Files = dict[str, bytes]

# Of these files every fact is proved by an event, a digest or a signature.
PROVED = ("events.jsonl", "heads.txt")
ODD_NAMES = st.sampled_from(
    (
        *(
            "../../escape",
            "/etc/passwd",
            "a\\b",
            "\x1b[2J",
            "a\nb",
            "\u202e",
            "x" * 60_000,
            "con",
            ".",
        ),
        *("events.jsonl/", "EVENTS.JSONL", "manifest.json ", "é", "a/../events.jsonl"),
    )
)


@pytest.fixture
def package(books: Any, export: Any) -> Path:  # noqa: F811  the fixtures
    made: Path = export()
    assert judge(made) == 0
    return made


def judge(file: Path) -> int:
    """Return the exit code; nothing of the report may command a terminal, and it has an end."""
    tally["evidence"] += 1
    report, code = verify(str(file), None, None)
    assert code in {0, 1}
    assert all(each.isprintable() or each == "\n" for each in report)
    assert len(report) < 100_000
    return code


def test_no_spoilt_bytes_of_a_package_are_taken_for_evidence(package, tmp_path):
    content, file = package.read_bytes(), tmp_path / "spoilt.zip"
    whole = read_files(package)

    @try_hard(12, long=150)
    @given(st.data())
    def fuzz(data: st.DataObject) -> None:
        spoilt = content
        for _ in range(data.draw(st.integers(1, 3))):
            spoilt = data.draw(spoilt_bytes(spoilt))
        file.write_bytes(spoilt)
        # What stands beside the files, such as a date or a comment, proves nothing.
        if judge(file) == 0:
            assert read_files(file) == whole

    fuzz()


@st.composite
def spoilt_files(draw: st.DrawFn, files: Files) -> tuple[str, Files]:
    """Draw a file of the package with a line of it spoilt: its JSON, its bytes, or its place."""
    name = draw(st.sampled_from(sorted({*files} - {MANIFEST})))
    lines = files[name].splitlines(keepends=True)
    at = draw(st.integers(0, len(lines) - 1))
    way = draw(st.sampled_from(["value", "value", "value", "bytes", "out", "twice", "swapped"]))
    if way == "value" and name.endswith(".jsonl"):
        row = json.loads(lines[at])
        for _ in range(draw(st.integers(1, 2))):
            row = draw(spoilt_values(row))
        lines[at] = json.dumps(row).encode() + b"\n"
    elif way == "out":
        del lines[at]
    elif way == "twice":
        lines.insert(at, lines[at])
    elif way == "swapped":
        lines[at], lines[-1] = lines[-1], lines[at]
    else:
        lines[at] = draw(spoilt_bytes(lines[at][:-1])) + b"\n"
    return name, {**files, name: b"".join(lines)}


def read_rows(content: bytes) -> list[Any]:
    """Return the rows without what is not set, which has no part in a digest; heads in no order."""
    lines = content.splitlines()
    if not content.startswith(b"{"):
        return sorted(lines)
    return [
        {name: value for name, value in json.loads(line).items() if value not in (None, "")}
        for line in lines
    ]


def test_no_row_is_changed_behind_the_verifiers_back(package, tmp_path):
    """Whoever forges also writes the manifest: what the package proves, it proves by itself."""
    files, file = read_files(package), tmp_path / "forged.zip"

    @try_hard(12, long=150)
    @given(spoilt_files(files))
    def fuzz(forged: tuple[str, Files]) -> None:
        name, changed = forged
        code = judge(write_with_manifest(file, changed))
        if code == 0 and name in PROVED:
            assert read_rows(changed[name]) == read_rows(files[name])

    fuzz()


def test_no_manifest_breaks_the_verifier(package, tmp_path):
    files, file = read_files(package), tmp_path / "forged.zip"
    manifest = json.loads(files[MANIFEST])

    @try_hard(12, long=150)
    @given(spoilt_values(manifest) | spoilt_values(manifest).flatmap(spoilt_values))
    def fuzz(value: Any) -> None:
        judge(write_files(file, {**files, MANIFEST: json.dumps(value).encode()}))

    fuzz()


@st.composite
def hostile_entries(draw: st.DrawFn) -> list[tuple[ZipInfo, bytes]]:
    """Draw entries as no honest program writes them: links, bombs, odd names and dates."""
    entries = []
    for _ in range(draw(st.integers(1, 3))):
        name = draw(ODD_NAMES | ODD_TEXTS)
        entry = ZipInfo(name.encode(errors="replace").decode(), (1980, 1, 1, 0, 0, 0))
        entry.compress_type = draw(st.sampled_from([ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2]))
        mode = draw(st.sampled_from([0, stat.S_IFLNK | 0o777, stat.S_IFDIR, 0o4755, stat.S_IFIFO]))
        entry.external_attr = mode << 16
        entry.extra = draw(st.just(b"") | ODD_BYTES)
        content = draw(st.sampled_from([b"/etc/passwd", b"", bytes(1 << 20), b"{}\n", b"[" * 9999]))
        entries.append((entry, content))
    return entries


def write_hostile(file: Path, files: Mapping[str, bytes], entries: Any, *, is_named: bool) -> None:
    """Write the package with further entries, which its manifest names if it is told to."""
    manifest = json.loads(files[MANIFEST])
    if is_named:
        one = manifest["files"][0]
        manifest["files"] += [{**one, "name": entry.filename} for entry, _ in entries]
        manifest["files"] += [{**one, "name": "numbers", "is_numbered": True}]
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, content in {**files, MANIFEST: json.dumps(manifest).encode()}.items():
            archive.writestr(name, content)
        for entry, content in entries:
            archive.writestr(entry, content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_foreign_entry_is_unpacked_or_taken(package, tmp_path, monkeypatch):
    files, folder = read_files(package), tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)

    @try_hard(12, long=150)
    @given(hostile_entries(), st.booleans())
    def fuzz(entries: Any, is_named: bool) -> None:  # noqa: FBT001  drawn
        file = tmp_path / "hostile.zip"
        write_hostile(file, files, entries, is_named=is_named)
        assert judge(file) == 1
        assert [*folder.iterdir()] == []

    fuzz()
