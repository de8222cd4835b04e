"""Somebody who imports a file of customers again and again, each time with another town."""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from typing_extensions import override

from tests.breaking.drivers.desk import Desk, fields_of
from tests.breaking.drivers.diary import Note, of_kind
from tests.breaking.drivers.driver import Driver, Found, Site
from tests.breaking.drivers.exchange import Answer, LostError

ADDRESS = "198.51.100.4"
CUSTOMERS = 40
PREFIX = "IMP-"
BOUNDARY = "a-line-that-no-file-has"
DONE, NOTHING = 'class="notice good result"', 'class="notice result"'
END = "</html>"
FOUND, NOT_FOUND = 302, 404
CUT = 0.4
LONGEST_CUT_SECONDS = 0.4
TOWN = re.compile(r"Town (\d+)")


class Imports(Driver):
    """Uploads a file, looks at its preview, and imports it: whole, or with the browser gone."""

    name = "imports"

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._desk = Desk(site, "importer", address=ADDRESS)
        self._towns = count(1)

    @override
    def prepare(self) -> None:
        self._desk.come_in()

    @override
    def work(self) -> None:
        town = next(self._towns)
        path = self._upload(town)
        for _ in range(3):
            page = self._desk.read(path)
            if page.status == NOT_FOUND:  # it was imported, though nobody was told
                break
            seen = fields_of(page)
            if "seen" not in seen:
                self.diary.note("strange", town=town, what="there is nothing to import any more")
                break
            if self._import(path, town, seen):
                break

    @override
    def find(self, database: Any) -> Found:
        return find(self.diary.read(), read(database))

    @override
    def counts(self) -> Mapping[str, int]:
        notes = self.diary.read()
        return {
            "imports begun": len(of_kind(notes, "importing")),
            "imports done": len(of_kind(notes, "done")),
            "imports broken off": len(of_kind(notes, "lost")),
        }

    def _upload(self, town: int) -> str:
        """Upload the file until it is kept; return the address of its preview."""
        while True:
            form = fields_of(self._desk.read("/customers/import"))
            body, kind = _write_form(form["csrfmiddlewaretoken"], write_file(town))
            try:
                answer = self._desk.fetch("POST", "/customers/import", body=body, content_type=kind)
            except LostError:
                self._desk.pause()
                continue
            if answer.status != FOUND:
                raise RuntimeError(f"A file was not taken: {answer.text}")
            return answer.location

    def _import(self, path: str, town: int, seen: dict[str, str]) -> bool:
        """Make one attempt; return whether it is known what came of it."""
        is_cut = self.chance.random() < CUT
        cut = self.chance.uniform(0, LONGEST_CUT_SECONDS) if is_cut else None
        self.diary.note("importing", town=town, id=path.rpartition("/")[2])
        try:
            # The page has other buttons, with names and values of their own.
            form = {name: seen[name] for name in ("csrfmiddlewaretoken", "seen")} | {"import": ""}
            answer = self._desk.fetch("POST", path, form, cut=cut)
        except LostError:
            self.diary.note("lost", town=town)
            return False
        return self._tell(answer, town)

    def _tell(self, answer: Answer, town: int) -> bool:
        if answer.status == NOT_FOUND:
            return True
        if END not in answer.text:  # nothing was left to write the rest of the page with
            self.diary.note("lost", town=town)
            return False
        if DONE in answer.text:
            self.diary.note("done", town=town)
            return True
        what = "nothing" if NOTHING in answer.text else "strange"
        self.diary.note(what, town=town, what=f"an import was answered {answer.status}")
        return False


def write_file(town: int) -> bytes:
    """Return a table of customers who all live in the town with this number."""
    rows = [
        f"{PREFIX}{place},Customer {place} of the file,Mill Lane 7,1011 AB,Town {town},NL"
        for place in range(CUSTOMERS)
    ]
    head = "Customer number,Name,Street,Postcode,City,Country"
    return "\r\n".join([head, *rows, ""]).encode()


def _write_form(token: str, content: bytes) -> tuple[bytes, str]:
    """Return the body of a form with a file, and its content type."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n'
        f'{token}\r\n--{BOUNDARY}\r\nContent-Disposition: form-data; name="file";'
        ' filename="customers.csv"\r\nContent-Type: text/csv\r\n\r\n'
    )
    body = head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
    return body, f"multipart/form-data; boundary={BOUNDARY}"


class Rows(NamedTuple):
    """The towns of the customers of the file, by their numbers, and the events of imports."""

    towns: list[tuple[str, str]]
    # The file's ID, and what the audit says of it.
    events: list[tuple[str, str]]


TOWNS = "SELECT customer_number, city FROM invoices_customer WHERE customer_number LIKE %s"
EVENTS = """
    SELECT target, detail FROM agent_access_auditevent WHERE action = 'customers:imported'
"""
COUNTS = re.compile(r"new (\d+), changed (\d+), ")


def read(database: Any) -> Rows:
    towns = database.execute(TOWNS, [f"{PREFIX}%"]).fetchall()
    return Rows(towns, database.execute(EVENTS).fetchall())


def find(notes: list[Note], rows: Rows) -> Found:
    return {
        "imports in part": [*find_parts(notes, rows)],
        "imports lost": [*find_losses(notes, rows)],
    }


def find_parts(notes: list[Note], rows: Rows) -> Iterator[str]:
    """Imports of which something is there and something is not."""
    numbers = sorted(number for number, _ in rows.towns)
    wanted = sorted(f"{PREFIX}{place}" for place in range(CUSTOMERS))
    if numbers and numbers != wanted:
        yield f"there are {len(numbers)} customers of {CUSTOMERS}"
    towns = {town for _, town in rows.towns}
    if len(towns) > 1:
        yield f"the customers of one file live in {sorted(towns)}"
    for pk, detail in rows.events:
        counted = COUNTS.match(detail)
        if counted is None or int(counted[1]) + int(counted[2]) != CUSTOMERS:
            yield f"import {pk} wrote {detail!r}"
    yield from (each["what"] for each in of_kind(notes, "strange"))


def find_losses(notes: list[Note], rows: Rows) -> Iterator[str]:
    """Imports that somebody was told of and that are not there, or have no event, or two."""
    done = [each["town"] for each in of_kind(notes, "done")]
    living = {int(found[1]) for _, town in rows.towns if (found := TOWN.fullmatch(town))}
    if done and (not living or min(living) < max(done)):
        yield f"the import of town {max(done)} is lost"
    events = [pk for pk, _ in rows.events]
    begun = {each["id"]: each["town"] for each in of_kind(notes, "importing")}
    told = {begun[pk] for pk in events if pk in begun}
    yield from (f"the import of town {town} has no event" for town in done if town not in told)
    yield from (f"import {pk} was done twice" for pk in set(events) if events.count(pk) > 1)
