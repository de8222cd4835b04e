"""An operator who takes packages of evidence meanwhile; each is verified as an auditor would."""

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from typing_extensions import override

from tests.breaking.drivers.commands import start_command
from tests.breaking.drivers.diary import Note, of_kind
from tests.breaking.drivers.driver import Driver, Found, Site

VERIFIER = Path("agent_access", "evidence", "verify_evidence.py").resolve()
KILLED = 0.25
SHORTEST_WAIT, LONGEST_WAIT = 5.0, 25.0
LONGEST_LIFE = 6.0
ENDING_SECONDS = 300


class Packages(Driver):
    """Exports a package, verifies it together with the one before, and kills some exports."""

    name = "packages"

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._folder = site.folder / "packages"
        self._folder.mkdir()
        self._numbers = count(1)
        self._last: Path | None = None

    @override
    def work(self) -> None:
        is_killed = self.site.is_killing and self.chance.random() < KILLED
        self._take(self.chance.uniform(0, LONGEST_LIFE) if is_killed else None)
        self.site.enough.wait(self.chance.uniform(SHORTEST_WAIT, LONGEST_WAIT))

    @override
    def settle(self) -> None:
        self._take(None)

    @override
    def find(self, database: Any) -> Found:
        return find(self.diary.read(), read(database), self._folder)

    @override
    def counts(self) -> Mapping[str, int]:
        notes = self.diary.read()
        whole = [each for each in of_kind(notes, "ended") if each["status"] == 0]
        return {
            "packages of evidence verified": len(whole),
            "packages broken off": len(of_kind(notes, "ended")) - len(whole),
        }

    def _take(self, life: float | None) -> None:
        """Export a package, killed after so many seconds where a life is given."""
        name = f"package-{next(self._numbers)}"
        file, log = self._folder / f"{name}.zip", self._folder / f"{name}.log"
        begun_at = time.time()
        process = start_command(self.site, "export_evidence", str(file), log=log)
        try:
            status = process.wait(ENDING_SECONDS if life is None else life)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        self.diary.note(
            "ended", name=name, status=status, is_there=file.exists(), begun_at=begun_at
        )
        if file.exists():
            self._verify(file, is_whole=status == 0)

    def _verify(self, file: Path, *, is_whole: bool) -> None:
        earlier = ["--earlier", str(self._last)] if self._last and is_whole else []
        command = [sys.executable, "-I", str(VERIFIER), str(file), *earlier]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own command
        said = done.stdout.splitlines()[-5:]
        self.diary.note("verified", name=file.stem, status=done.returncode, said=said)
        if is_whole and done.returncode == 0:
            self._last = file


class Issued(NamedTuple):
    pk: str
    number: str
    committed_at: datetime


ISSUED = """
    SELECT id::text, number, pg_xact_commit_timestamp(xmin)
    FROM invoices_document WHERE number IS NOT NULL
"""


def read(database: Any) -> list[Issued]:
    return [Issued(*row) for row in database.execute(ISSUED).fetchall()]


def find(notes: list[Note], issued: list[Issued], folder: Path) -> Found:
    verified = {each["name"]: each for each in of_kind(notes, "verified")}
    ended = of_kind(notes, "ended")
    lacks = [
        flaw
        for each in ended
        if each["status"] == 0 and each["is_there"]
        for flaw in find_gaps(each, read_package(folder / f"{each['name']}.zip"), issued)
    ]
    return {
        "packages that do not verify": [*find_unsound(ended, verified, folder)],
        "documents without evidence": lacks,
    }


def find_unsound(ended: list[Note], verified: Mapping[str, Note], folder: Path) -> Iterator[str]:
    """Packages that were finished and do not verify, are no package, or are there by halves."""
    for each in ended:
        name, status = each["name"], each["status"]
        is_sound = name in verified and verified[name]["status"] == 0
        if status == 0 and not is_sound:
            yield f"{name} was finished, and is not sound: {verified.get(name, {}).get('said')}"
        # Only a kill, which nobody can answer, leaves something behind.
        if status > 0 and each["is_there"]:
            yield f"{name} failed and is there"
        if status == 0 and each["is_there"]:
            digest = hashlib.sha256((folder / f"{name}.zip").read_bytes()).hexdigest()
            if digest not in (folder / f"{name}.log").read_text(encoding="utf-8"):
                yield f"{name} has another digest than was said"


def read_package(file: Path) -> dict[str, str]:
    """Return the numbers of the documents in a package, by their IDs."""
    with ZipFile(file) as package, package.open("documents.jsonl") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["id"]: json.loads(row["content"])["number"] for row in rows}


def find_gaps(told: Note, documents: Mapping[str, str], issued: list[Issued]) -> Iterator[str]:
    """Compare a package with what was issued before it was begun, and what there is at all."""
    begun_at = datetime.fromtimestamp(told["begun_at"], UTC)
    known = {each.pk: each for each in issued}
    for each in issued:
        if each.committed_at < begun_at and each.pk not in documents:
            yield f"{told['name']} lacks {each.number}"
    for pk, number in documents.items():
        if pk not in known or known[pk].number != number:
            yield f"{told['name']} has {number}, which there is not"
