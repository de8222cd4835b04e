"""Runs two acts at once in every order that can matter, each time on the same stage.

Only on PostgreSQL: on SQLite, a writer locks the whole database.
"""

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

import time_machine
from django.core.cache import cache
from django.db import connection, connections
from django.utils import timezone

from tests.races.answers import FAULT, answer_of
from tests.races.choosing import Choice
from tests.races.flaws import find_flaws
from tests.races.footprints import (
    BY_ITSELF,
    COMMIT,
    ROLLBACK,
    Footprint,
    add_up,
    begins_part,
    find_changed,
    has_committed,
)
from tests.races.outcomes import Alone, Meeting, Outcome, Result
from tests.races.rows import Tables
from tests.races.stage import Stage
from tests.races.table import Act
from tests.threads import IS_LOCK_AWAITED, Encounter

Held = Callable[[str], None]


class Interleaving:
    """Runs acts on a stage, which has to be in the database when this is made.

    Each run begins at the moment of the stage, however late it is, so that nothing is over.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._moment = timezone.now() + timedelta(seconds=1)
        self._threads = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self._tables = Tables()
        self._dirty: set[str] = set()
        self._alone: dict[str, Alone] = {}
        self._in_turn: dict[tuple[str, str], Outcome] = {}

    def alone(self, act: Act) -> Alone:
        """Return what the act does alone; the first of two runs fills the caches of a process."""
        if act.name not in self._alone:
            self.run(act)
            self._alone[act.name] = self.run(act)
        return self._alone[act.name]

    def run(self, act: Act) -> Alone:
        """Run the act by itself."""
        here, _ = self._threads
        results: list[Result] = []
        with self._set() as statements:
            answer = here.submit(self._run, act, statements, results).result()
            return Alone(tuple(statements), tuple(results), answer)

    def after(self, first: Act, second: Act) -> Outcome:
        """Return the outcome of one after the other."""
        key = first.name, second.name
        if key not in self._in_turn:
            if key[::-1] not in self._in_turn:
                self._in_turn.clear()  # of the pair before
            here, _ = self._threads
            with self._set() as statements:
                told = [
                    here.submit(self._run, each, statements).result() for each in (first, second)
                ]
                self._note(statements)
                self._in_turn[key] = self._tell(first, second, told)
        return self._in_turn[key]

    def meetings(self, first: Act, second: Act) -> Iterator[Meeting]:
        """Yield the outcomes of holding the first act until the second waits for it or is done."""
        alone, footprint = self.alone(first), self.alone(second).footprint
        return Choice(partial(self._meet, first, second), alone, footprint).meetings()

    def _meet(self, first: Act, second: Act, place: int) -> Meeting:
        here, there = self._threads
        with self._set() as statements:
            others: list[str] = []
            hold = _Hold(place, statements, others)
            held = here.submit(self._run_held, first, hold)
            come = partial(self._run, second, others)
            met = there.submit(hold.encounter.come, come)
            told = [held.result(), met.result()]
            self._note([*statements, *others])
            outcome = self._tell(first, second, told)
        return Meeting(
            place=place,
            statement=hold.statement,
            outcome=outcome,
            is_overtaken=hold.is_overtaken,
            waiting=hold.waiting,
            comes_late=hold.comes_late,
            between_parts=hold.between_parts,
            results=tuple(hold.results),
        )

    @contextmanager
    def _set(self) -> Iterator[list[str]]:
        """Set the stage; yield a list for the statements of whoever acts on it."""
        self._tables.restore(self._dirty)
        self._dirty = set()
        cache.clear()
        statements: list[str] = []
        with time_machine.travel(self._moment, tick=True):
            yield statements
        self._note(statements)

    def _note(self, statements: Collection[str]) -> None:
        self._dirty |= find_changed(set(statements))

    def _run(self, act: Act, statements: list[str], results: list[Result] | None = None) -> str:
        with _listen(statements.append, results):
            return self._answer(act)

    def _run_held(self, act: Act, hold: "_Hold") -> str:
        with _listen(hold.come_by, hold.results):
            try:
                return self._answer(act)
            finally:
                hold.encounter.pass_by()

    def _answer(self, act: Act) -> str:
        told = answer_of(partial(act.run, self._stage))
        return self._tables.leave_chance_out(told)

    def _tell(self, first: Act, second: Act, told: list[str]) -> Outcome:
        # An act that meets itself was told two things, in whichever order.
        names = [first.name, second.name] if first != second else [first.name, f"{first.name} too"]
        if first == second:
            told = sorted(told)
        flaws = find_flaws(self._dirty, acts={first.name, second.name})
        answers = dict(zip(names, told, strict=True)) | dict.fromkeys(flaws, FAULT)
        return Outcome(answers, self._tables.tell(self._dirty))

    def end(self) -> None:
        """Put the stage back and close all connections."""
        self._tables.restore(self._dirty)
        for thread in self._threads:
            thread.submit(connections.close_all)
            thread.shutdown()
        connection.close()  # which drops the temporary copies


class _Hold:
    """Holds an act before a statement, or its commit, until the other act waits or is done."""

    def __init__(self, place: int, statements: list[str], others: list[str]) -> None:
        self.encounter = Encounter()
        self.is_overtaken = False
        self.statement = ""
        self.waiting: Footprint | None = None
        self.comes_late = self.between_parts = False
        self.results: list[Result] = []
        self._left, self._statements, self._others = place, statements, others

    def come_by(self, statement: str) -> None:
        self._statements.append(statement)
        self._left -= 1
        if self._left == -1:
            self.statement = statement
            self.comes_late = has_committed(self._statements[:-1])
            self.between_parts = begins_part(statement, self._statements[:-1])
            self.is_overtaken = self.encounter.wait_here()
            before = self._others[:-1]  # the last one waits
            if not self.is_overtaken and not has_committed(before):
                self.waiting = add_up(before)


@contextmanager
def _listen(hear: Held, results: list[Result] | None = None) -> Iterator[None]:
    """Call it with each statement of this thread before that is sent, and with each end.

    What each one returned is appended to the results, if these are wanted.
    """
    database = connections[connection.alias]
    commit, rollback = database.commit, database.rollback
    kept: list[Result] = [] if results is None else results

    def commit_later() -> None:
        hear(COMMIT)
        kept.append(None)
        commit()

    def roll_back_later() -> None:
        hear(ROLLBACK)
        kept.append(None)
        rollback()

    def execute(run: Any, statement: str, *args: Any) -> Any:
        if statement == IS_LOCK_AWAITED:
            return run(statement, *args)
        hear(statement if database.in_atomic_block else BY_ITSELF + statement)
        result: Result = None
        try:
            told = run(statement, *args)
            if results is not None:
                result = _read_result(args[-1]["cursor"])
        finally:
            kept.append(result)
        return told

    with (
        database.execute_wrapper(execute),
        patch.object(database, "commit", commit_later),
        patch.object(database, "rollback", roll_back_later),
    ):
        yield


def _read_result(cursor: Any) -> Result:
    """Return what a cursor holds, as the server sent it, or None where it comes bit by bit."""
    found = getattr(cursor.cursor, "pgresult", None)
    if found is None:
        return None
    cells = range(found.nfields)
    values = (found.get_value(row, cell) for row in range(found.ntuples) for cell in cells)
    return (found.command_tuples, *values)
