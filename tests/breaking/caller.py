"""Sends each write until it is answered: again with its key, now and then twice at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from tests.breaking.habits import Habits
from tests.breaking.journal import Journal
from tests.breaking.person import Person, UnheardError, Visit
from tests.breaking.wire import (
    LONGEST_PATIENCE_SECONDS,
    NO_CONNECTION,
    OK,
    Call,
    Cut,
    Line,
    Reply,
    Way,
    patience_of,
)

LONGEST_CUT_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 0.3
# A page takes longer than a call: one that is given up too early is asked for again, for nothing.
PATIENT = 3


class GivenUpError(Exception):
    """The run is over and the call still has no answer."""


@dataclass(frozen=True)
class Caller:
    """One connection's way to the service; what it sends and hears is in its journal."""

    lines: list[Line]
    person: Person
    journal: Journal
    chance: Random
    habits: Habits
    pool: ThreadPoolExecutor
    given_up: threading.Event

    def call(self, call: Call) -> Reply:
        """Return the first answer to a write; raise GivenUpError where none comes."""
        self.journal.begin(call)
        over_mcp = self.chance.random() < 1 / 2
        reply = self._attempt(call, self._choose(over_mcp=over_mcp, cut=self.habits.cut_first))
        for tries in count(1):
            if reply.is_answer:
                reply = replace(reply, retries=tries - 1)
                break
            self._pause()
            over_mcp = not over_mcp
            reply = self._retry(call, over_mcp=over_mcp, tries=tries)
        if reply.outcome == OK and self.chance.random() < self.habits.repeated:
            self._attempt(call, self._choose(over_mcp=not over_mcp))
        return reply

    def decide(self, approval_id: str, decision: str) -> None:
        """Have the person decide; the decision is told once the page says that it stands."""
        for tries in count():
            visit = Visit(self._any_line().port, patience_of(tries + PATIENT))
            try:
                decided = self.person.decide(visit, approval_id, decision)
            except UnheardError:
                self._pause()
                continue
            if not decided and not tries:
                self.journal.note_surprise(f"approval {approval_id} could not be decided")
            self.journal.note_decision(approval_id, decision, is_repeated=tries > 0)
            return

    def correct(self, document_id: str) -> None:
        """Have the person take back some or all of an invoice, in one attempt."""
        visit = Visit(self._any_line().port, LONGEST_PATIENCE_SECONDS)
        with suppress(UnheardError):
            done = self.person.correct(visit, document_id, self.chance.choice((25, 50, 100)))
            if not done.is_right:
                self.journal.note_surprise(f"document {document_id} could not be corrected")
            if done.issued_id:
                self.journal.note_correction(done.issued_id)

    def sign_in(self) -> None:
        """Have the person sign in, for as long as it takes."""
        while True:
            try:
                return self.person.sign_in(Visit(self._any_line().port, LONGEST_PATIENCE_SECONDS))
            except UnheardError:
                self._pause()

    def _retry(self, call: Call, *, over_mcp: bool, tries: int) -> Reply:
        way = self._choose(over_mcp=over_mcp, cut=self.habits.cut_again, tries=tries)
        if self.chance.random() >= self.habits.doubled:
            return self._attempt(call, way)
        other_way = self._choose(over_mcp=not over_mcp, cut=self.habits.cut_again, tries=tries)
        beside = self.pool.submit(self._attempt, call, other_way, is_double=True)
        reply = self._attempt(call, way)
        other = beside.result()
        return reply if reply.is_answer else other

    def _attempt(self, call: Call, way: Way, *, is_double: bool = False) -> Reply:
        reply = Reply(outcome=NO_CONNECTION)
        # Where nobody listens, the next process is asked, as a proxy does.
        for line in self.chance.sample(self.lines, len(self.lines)):
            if reply.outcome == NO_CONNECTION:
                reply = line.send(call, way)
        if reply.outcome != NO_CONNECTION:
            self.journal.note(call, reply, is_double=is_double)
        return reply

    def _choose(self, *, over_mcp: bool, cut: float = 0, tries: int = 0) -> Way:
        """Choose how an attempt goes, of which so many are cut."""
        where = Cut.NEVER
        if self.chance.random() < cut:
            where = self.chance.choice((Cut.IN_BODY, Cut.BEFORE_ANSWER, Cut.BEFORE_ANSWER))
        delay = self.chance.uniform(0, LONGEST_CUT_SECONDS)
        return Way(over_mcp, patience_of(tries), where, delay)

    def _any_line(self) -> Line:
        return self.chance.choice(self.lines)

    def _pause(self) -> None:
        if self.given_up.wait(self.chance.uniform(0, LONGEST_PAUSE_SECONDS)):
            raise GivenUpError
