"""Requests of which their person is told, in two browsers and by mail, and decides then."""

import hashlib
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from queue import Queue
from typing import Any, ClassVar

from typing_extensions import override

from tests.breaking.caller import Caller
from tests.breaking.drivers import telling_columns
from tests.breaking.drivers.asker import Asker
from tests.breaking.drivers.desk import Desk, fields_of
from tests.breaking.drivers.diary import Note, of_kind
from tests.breaking.drivers.driver import Driver, Found, Site
from tests.breaking.drivers.mailbox import MAIL
from tests.breaking.drivers.push import GONE, Browser
from tests.breaking.drivers.workers import Workers
from tests.breaking.habits import Habits
from tests.breaking.journal import Journal
from tests.breaking.wire import Line

ADDRESS = "198.51.100.2"
# Addresses are secrets, and so nothing that would stand in a log by chance.
PATHS = ("/send/first-browser-of-the-person", "/send/second-browser-of-the-person")
LEAVING = "/send/browser-that-leaves-"
WAYS = frozenset({*PATHS, MAIL})
FOUND = 302
# How long a request is waited for, and those of whom nobody was told yet when all is quiet. A lease
# is over after half a minute, and attempts are a minute apart at most.
PATIENCE_SECONDS, QUIET_SECONDS = 60.0, 150.0
# Where nobody is killed.
SHORT_SECONDS = 20.0


class Telling(Driver):
    """Asks for an approval, waits until its person was told in every way, and has them decide."""

    name = "telling"
    threads: ClassVar[int] = 3
    # What takes its time is to wait for the messages.
    rests: ClassVar[float] = 0

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self._outside = site.outside
        self._pool = ThreadPoolExecutor(2 * self.threads)
        self._workers: Workers | None = None
        # The browsers that leave, by path.
        self._leaving: set[str] = set()
        self._numbers = count()
        # A browser of the person and some agents for each thread.
        self._desks = [Desk(site, "told", address=ADDRESS) for _ in range(self.threads)]
        askers = [self._make_asker(place) for place in range(len(site.facts["askers"]))]
        self._askers = askers
        self._shares: Queue[tuple[Desk, list[Asker]]] = Queue()
        for place, desk in enumerate(self._desks):
            self._shares.put((desk, askers[place :: self.threads]))

    @override
    def prepare(self) -> None:
        """Let the person choose how they are told, on the pages for it."""
        for desk in self._desks:
            desk.come_in()
        desk = self._desks[0]
        page = fields_of(desk.read("/account"))
        token = {"csrfmiddlewaretoken": page["csrfmiddlewaretoken"]}
        for path in PATHS:
            self._subscribe(desk, token, self._outside.push.add_browser(path))
        for status in GONE:
            self._add_leaving(desk, token, status)
        choices = token | {"by_mail": "on"}
        if desk.fetch("POST", "/account/notifications/choices", choices).status != FOUND:
            raise RuntimeError("The person could not choose to be told by mail.")
        self._workers = Workers(self.site, self.diary)

    def _subscribe(self, desk: Desk, token: dict[str, str], browser: Browser) -> None:
        given = {"subscription": json.dumps(browser.subscription)}
        self.site.heard.add(("the secret of a browser", given["subscription"]))
        self.site.heard.add(("the address of a browser", browser.path))
        added = desk.fetch("POST", "/account/notifications/browsers", token | given)
        if added.status != FOUND:
            raise RuntimeError(f"A browser was not added: {added.text}")

    def _add_leaving(self, desk: Desk, token: dict[str, str], status: str) -> None:
        """Add a browser of which its push service says by this status that it has left."""
        path = f"{LEAVING}{next(self._numbers)}"
        self._subscribe(desk, token, self._outside.push.add_browser(path, gone=status))
        self._leaving.add(path)

    def _replace_leaving(self, desk: Desk) -> None:
        """Add another browser that leaves once all have left."""
        if self._leaving <= self._outside.mailbox.gone:
            page = fields_of(desk.read("/account"))
            token = {"csrfmiddlewaretoken": page["csrfmiddlewaretoken"]}
            self._add_leaving(desk, token, self.chance.choice(list(GONE)))

    @override
    def work(self) -> None:
        desk, share = self._shares.get()
        try:
            asker = next((each for each in share if each.may_ask()), None)
            if asker is None:
                self.site.pause(1)
            else:
                asker.run_round()
                self._replace_leaving(desk)
        finally:
            self._shares.put((desk, share))

    @override
    def calm(self) -> None:
        self._outside.moods.calm()
        if self._workers:
            self._workers.calm()

    @override
    def settle(self) -> None:
        """Wait for those of whom nobody was told yet, now that the servers answer."""
        until = time.monotonic() + (QUIET_SECONDS if self.site.is_killing else SHORT_SECONDS)
        for approval_id in [each for asker in self._askers for each in asker.untold]:
            seconds = max(until - time.monotonic(), 0)
            self._outside.mailbox.wait_for(approval_id, set(WAYS), seconds=seconds)
        if self._workers:
            self._workers.stop()

    @override
    def close(self) -> None:
        if self._workers:
            self._workers.stop()
        for asker in self._askers:
            asker.caller.journal.close()
        self._pool.shutdown()
        super().close()

    @override
    def find(self, database: Any) -> Found:
        ways = {self._digest(path): path for path in {*PATHS, *self._leaving}}
        rows = telling_columns.read(database, self.site.facts["staff"]["told"]["pk"], ways)
        notes = self._notes()
        return telling_columns.find(notes, rows, self._secrets(notes))

    @override
    def counts(self) -> Mapping[str, int]:
        return telling_columns.count(self._notes())

    def _notes(self) -> list[Note]:
        notes = self.diary.read() + self._outside.diary.read()
        return sorted(notes, key=lambda note: note["at"])

    def _digest(self, path: str) -> str:
        """Return what the service keeps of a browser's address."""
        endpoint = f"https://localhost:{self._outside.push.port}{path}"
        return hashlib.sha256(endpoint.encode()).hexdigest()

    def _secrets(self, notes: list[Note]) -> set[str]:
        """Return what must be in no message: nonces, credentials, and what is asked for."""
        facts = self.site.facts
        credentials = {each["credential"] for each in facts["askers"]}
        nonces = {each["nonce"] for each in of_kind(notes, "asked")}
        return credentials | nonces | set(facts["customer_names"]) | {"EUR"}

    def _make_asker(self, place: int) -> Asker:
        own, facts = self.site.facts["askers"][place], self.site.facts
        name = f"asker-{place}"
        journal = Journal(self.site.folder / f"{name}.jsonl", connection_id=own["connection_id"])
        caller = Caller(
            lines=[Line(each.port, own["credential"], ADDRESS) for each in self.site.servers],
            person=self._desks[place % self.threads],
            journal=journal,
            chance=self.site.chance(name),
            # Straight to the issued invoice: other agents take the detours.
            habits=Habits(rivalled=0, executed_again=0, corrected=0),
            pool=self._pool,
            given_up=self.site.given_up,
        )
        return Asker(
            name,
            caller,
            facts["customers"],
            facts["tax_rate"],
            mailbox=self._outside.mailbox,
            ways=WAYS,
            patience=PATIENCE_SECONDS if self.site.is_killing else SHORT_SECONDS,
            note=self.diary.note,
        )
