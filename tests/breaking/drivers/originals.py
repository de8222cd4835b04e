"""Readers who download files of issued documents, the first of each being made for them."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from typing_extensions import override

from tests.breaking.drivers.desk import Desk
from tests.breaking.drivers.diary import Note, of_kind
from tests.breaking.drivers.driver import Driver, Found, Site
from tests.breaking.drivers.exchange import LostError

ADDRESS = "198.51.100.3"
LINK = re.compile(r'href="/documents/([0-9a-f-]{36})"')
KINDS = ("pdf", "xrechnung", "peppol")
OK, NOT_MODIFIED = 200, 304
# A list of documents is read anew after so many downloads.
DOWNLOADS_A_LIST = 12
CUT, DOUBLED, AGAIN = 0.25, 0.5, 0.4
LONGEST_CUT_SECONDS = 0.5
# So many are downloaded again when all is quiet.
READ_AGAIN = 30


class Originals(Driver):
    """Downloads a file, often twice at once and some in the middle of it, and later once more."""

    name = "originals"

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._desks = [Desk(site, "reader", address=ADDRESS) for _ in range(2)]
        self._pool = ThreadPoolExecutor(1)
        self._known: list[str] = []
        self._had: list[tuple[str, str]] = []
        self._downloads = 0

    @override
    def prepare(self) -> None:
        for desk in self._desks:
            desk.come_in()

    @override
    def work(self) -> None:
        place = self._choose()
        if place is None:
            self.site.pause(0.5)
            return
        if self.chance.random() < DOUBLED:
            beside = self._pool.submit(self._download, self._desks[1], *place)
            self._download(self._desks[0], *place)
            beside.result()
        else:
            self._download(self._desks[0], *place)

    @override
    def settle(self) -> None:
        for place in self.chance.sample(self._had, min(READ_AGAIN, len(self._had))):
            self._download(self._desks[0], *place, may_cut=False)

    @override
    def close(self) -> None:
        self._pool.shutdown()
        super().close()

    @override
    def find(self, database: Any) -> Found:
        return find(self.diary.read(), read(database))

    @override
    def counts(self) -> Mapping[str, int]:
        notes = self.diary.read()
        got = of_kind(notes, "downloaded")
        return {
            "files downloaded": len(got),
            "downloads broken off": len(of_kind(notes, "lost")),
            "originals made": len({(each["document_id"], each["file"]) for each in got}),
        }

    def _choose(self) -> tuple[str, str] | None:
        if self._had and self.chance.random() < AGAIN:
            return self.chance.choice(self._had)
        if self._downloads % DOWNLOADS_A_LIST == 0:
            self._known = LINK.findall(self._desks[0].read("/documents?status=issued").text)
        self._downloads += 1
        if not self._known:
            self._downloads = 0
            return None
        return self.chance.choice(self._known), self.chance.choice(KINDS)

    def _download(self, desk: Desk, document_id: str, file: str, *, may_cut: bool = True) -> None:
        is_cut = may_cut and self.chance.random() < CUT
        cut = self.chance.uniform(0, LONGEST_CUT_SECONDS) if is_cut else None
        told = {"document_id": document_id, "file": file}
        try:
            answer = desk.fetch("GET", f"/documents/{document_id}/{file}", cut=cut)
        except LostError:
            self.diary.note("lost", **told)
            return
        if answer.status != OK:
            self.diary.note("refused", **told, status=answer.status)
            return
        digest = hashlib.sha256(answer.body).hexdigest()
        self.diary.note("downloaded", **told, digest=digest, etag=answer.headers.get("etag"))
        if (document_id, file) not in self._had:
            self._had.append((document_id, file))


class Kept(NamedTuple):
    """An original as the database has it; `told` is the digest that it says of itself."""

    document_id: str
    file: str
    digest: str
    told: str


class Rows(NamedTuple):
    kept: list[Kept]
    # What the audit says was downloaded: document, and kind with digest.
    events: list[tuple[str, str]]


KEPT = """
    SELECT document_id::text, kind, encode(sha256(content), 'hex'), digest FROM invoices_original
"""
EVENTS = """
    SELECT target, detail FROM agent_access_auditevent WHERE action = 'document:downloaded'
"""


def read(database: Any) -> Rows:
    kept = [Kept(*row) for row in database.execute(KEPT).fetchall()]
    return Rows(kept, database.execute(EVENTS).fetchall())


def find(notes: list[Note], rows: Rows) -> Found:
    return {
        "originals that changed": [*find_changed(notes, rows)],
        "downloads without their event": [*find_silent(notes, rows)],
    }


def find_changed(notes: list[Note], rows: Rows) -> Iterator[str]:
    """Files of which there are two, or that are gone, or not what they are said to be."""
    digests: dict[tuple[str, str], set[str]] = {}
    for each in of_kind(notes, "downloaded"):
        place = each["document_id"], each["file"]
        digests.setdefault(place, set()).add(each["digest"])
        if each["etag"] != f'"{each["digest"]}"':
            yield f"{place} came with the tag {each['etag']}"
    for place, count in Counter((each.document_id, each.file) for each in rows.kept).items():
        if count > 1:
            yield f"{place} is kept {count} times"
    kept = {(each.document_id, each.file): each for each in rows.kept}
    for place, many in digests.items():
        own = {kept[place].digest, kept[place].told} if place in kept else set()
        if len(many | own) != 1:
            yield f"{place} was downloaded as {len(many)} files, and {len(own)} is kept"


def find_silent(notes: list[Note], rows: Rows) -> Iterator[str]:
    """Downloads that the audit does not tell of, and events of files that nobody could have got."""
    got = Counter(
        (each["document_id"], f"{each['file']} {each['digest']}")
        for each in of_kind(notes, "downloaded")
    )
    told = Counter(rows.events)
    yield from (f"download {place} has no event" for place in (got - told).elements())
    kept = {(each.document_id, f"{each.file} {each.digest}") for each in rows.kept}
    yield from (f"event {place} is of no file" for place in told if place not in kept)
