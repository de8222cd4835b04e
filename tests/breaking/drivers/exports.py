"""Somebody who takes tables of documents out, some of them broken off, and keeps the whole ones."""

import csv
import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from typing_extensions import override

from tests.breaking.drivers import archives
from tests.breaking.drivers.desk import Desk, fields_of
from tests.breaking.drivers.diary import Note, of_kind
from tests.breaking.drivers.driver import Driver, Found, Site
from tests.breaking.drivers.exchange import LostError

ADDRESS = "198.51.100.5"
# Those who ask first, and so have issued something before long.
FIRST_ASKERS = 9
TABLES, ORIGINALS = ("documents", "lines"), "originals"
FIRST_DAY, LAST_DAY = "2026-01-01", "2027-12-31"
# How a file ends that is not whole, as its reader is told in it.
BROKEN_OFF = b"This file is not complete"
OK = 200
CUT = 0.3
LONGEST_CUT_SECONDS = 0.5


class Exports(Driver):
    """Takes out the documents of one customer, or of all; and the originals of one agent's."""

    name = "exports"

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._desk = Desk(site, "exporter", address=ADDRESS)
        self._folder = site.folder / "exports"
        self._folder.mkdir()

    @override
    def prepare(self) -> None:
        self._desk.come_in()

    @override
    def work(self) -> None:
        is_cut = self.chance.random() < CUT
        cut = self.chance.uniform(0, LONGEST_CUT_SECONDS) if is_cut else None
        self._take_out(self.chance.choice([*TABLES, ORIGINALS]), cut)

    @override
    def settle(self) -> None:
        for kind in (*TABLES, ORIGINALS):
            self._take_out(kind, None)

    @override
    def find(self, database: Any) -> Found:
        return find(self.diary.read(), read(database), self._folder)

    @override
    def counts(self) -> Mapping[str, int]:
        notes = self.diary.read()
        return {
            "exports answered whole": len(of_kind(notes, "whole")),
            "exports broken off": len(of_kind(notes, "lost")) + len(of_kind(notes, "ended")),
        }

    def _take_out(self, kind: str, cut: float | None) -> None:
        chosen = self._choose(kind)
        form = fields_of(self._desk.read("/exports"))
        asked = {
            "csrfmiddlewaretoken": form["csrfmiddlewaretoken"],
            "kind": kind,
            "type": "",
            "first_day": FIRST_DAY,
            "last_day": LAST_DAY,
            **chosen,
        }
        begun_at = time.time()
        try:
            answer = self._desk.fetch("POST", "/exports", asked, cut=cut)
        except LostError:
            self.diary.note("lost", file=kind)
            return
        if answer.status != OK:
            self.diary.note("refused", file=kind, status=answer.status)
        elif BROKEN_OFF in answer.body:
            self.diary.note("ended", file=kind)
        else:
            digest = hashlib.sha256(answer.body).hexdigest()
            (self._folder / digest).write_bytes(answer.body)
            told = {"file": kind, **chosen, "begun_at": begun_at}
            self.diary.note("whole", **told, digest=digest, size=len(answer.body))

    def _choose(self, kind: str) -> dict[str, str]:
        """Return whose documents are taken out; of an agent that issues few, the originals.

        Most of them are made for the file, which takes a good part of a second each.
        """
        facts = self.site.facts
        if kind == ORIGINALS:
            asker = self.chance.choice(facts["askers"][:FIRST_ASKERS])
            return {"customer": "", "writer": asker["connection_id"]}
        return {"customer": self.chance.choice(["", *facts["customers"]]), "writer": ""}


class Issued(NamedTuple):
    """A numbered document: its total in minor units, negative for a credit note, and its lines.

    The writer is the connection of an agent; empty of what a person wrote.
    """

    number: str
    customer_id: str
    writer_id: str
    total: int
    lines: int
    committed_at: datetime


class Rows(NamedTuple):
    issued: list[Issued]
    # What the audit says of exports that were taken to their end: kind; size and digest.
    events: list[tuple[str, str]]
    # The originals that are kept: number and SHA-256.
    kept: list[tuple[str, str]]


ISSUED = """
    SELECT number, customer_id::text, coalesce(connection_id::text, ''),
        (CASE type WHEN 'credit_note' THEN -grand_total ELSE grand_total END)::bigint,
        (SELECT count(*) FROM invoices_line AS own WHERE own.document_id = told.id),
        pg_xact_commit_timestamp(xmin)
    FROM invoices_document AS told WHERE number IS NOT NULL
"""
EVENTS = """
    SELECT target, detail FROM agent_access_auditevent WHERE action = 'export:finished'
"""

KEPT = """
    SELECT number, encode(sha256(content), 'hex') FROM invoices_original AS held
    JOIN invoices_document AS told ON told.id = held.document_id
"""


def read(database: Any) -> Rows:
    issued = [Issued(*row) for row in database.execute(ISSUED).fetchall()]
    events, kept = (database.execute(query).fetchall() for query in (EVENTS, KEPT))
    return Rows(issued, events, kept)


def find(notes: list[Note], rows: Rows, folder: Path) -> Found:
    whole = of_kind(notes, "whole")
    wrong = [
        flaw
        for each in whole
        for flaw in find_flaws(each, (folder / each["digest"]).read_bytes(), rows)
    ]
    return {"whole exports that are wrong": [*wrong, *find_silent(whole, rows)]}


def find_flaws(told: Note, content: bytes, rows: Rows) -> Iterator[str]:
    """Compare a whole file with what was issued before it was asked for, and before it came."""
    begun_at, came_at = (datetime.fromtimestamp(told[name], UTC) for name in ("begun_at", "at"))
    documents = {
        each.number: each
        for each in rows.issued
        if told["customer"] in {"", each.customer_id} and told["writer"] in {"", each.writer_id}
    }
    known = {each.number for each in documents.values() if each.committed_at <= came_at}
    wanted = {each.number for each in documents.values() if each.committed_at < begun_at}
    name = f"export {told['digest'][:8]} of {told['file']}"
    if told["file"] == ORIGINALS:
        kept = set(rows.kept)
        yield from archives.find_flaws(name, content, known=known, wanted=wanted, kept=kept)
        return
    lines = list(csv.DictReader(StringIO(content.decode("utf-8-sig"))))
    found = Counter(row["Number"] for row in lines)
    yield from (f"{name} has {number}, which there was not" for number in found.keys() - known)
    for each in documents.values():
        expected = each.lines if told["file"] == "lines" else 1
        is_there = found[each.number] == expected
        if not is_there and (found[each.number] or each.number in wanted):
            yield f"{name} has {each.number} {found[each.number]} times"
    if told["file"] == "documents":
        for row in lines:
            document = documents.get(row["Number"])
            if document and Decimal(row["Grand total"]) * 100 != document.total:
                yield f"{name} says {row['Grand total']} of {row['Number']}"


def find_silent(whole: list[Note], rows: Rows) -> Iterator[str]:
    got = Counter(
        (each["file"], f"{each['size']} bytes, SHA-256 {each['digest']}") for each in whole
    )
    yield from (f"export {each} has no event" for each in (got - Counter(rows.events)).elements())
