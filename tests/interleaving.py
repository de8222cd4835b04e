"""Runs two acts at once in every order: one is held before each of its statements in turn.

Only on PostgreSQL: on SQLite, a writer locks the whole database.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple
from unittest.mock import patch

from django.apps import apps
from django.db import connection, connections

from agent_access.database import triggers
from agent_access.verification import find_breaks
from invoicing.models import Customer, Document
from invoicing.models.search_words import SearchWord
from invoicing.services.search_words import rows_of_customer, rows_of_document
from tests.snapshots import take_snapshot
from tests.threads import Encounter

Act = Callable[[], str]

# The apps whose tables the acts may write.
APPS = ("agent_access", "agent_approvals", "invoices")
# What differs from run to run: IDs, digests and draft codes; in answers also times.
CHANCE = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|D-[0-9A-Z]{8}|\d{4}-\d\d-\d\dT[\d:.]+Z"
)


class Outcome(NamedTuple):
    """What each act returned, by name, and what the database holds after both."""

    answers: Mapping[str, str]
    rows: Any


class Meeting(NamedTuple):
    """The outcome of holding the first act before its statement number `place`.

    `is_overtaken` if the second act ended meanwhile, instead of waiting for a lock.
    """

    place: int
    outcome: Outcome
    is_overtaken: bool


class Interleaving:
    """Runs acts, each time on the database as it was when this object was made.

    The triggers are dropped, since they would refuse to restore the tables; the flush after the
    test installs them again.
    """

    def __init__(self, acts: Mapping[str, Act]) -> None:
        self._acts = acts
        self._threads = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        for folder in triggers.installed_folders:
            triggers.drop(connection, folder)
        self._put_back = _copy_tables()
        self.after = cache(self._run_in_turn)

    def _run_in_turn(self, *names: str) -> Outcome:
        self._restore()
        here, _ = self._threads
        return _tell({name: here.submit(self._acts[name]).result() for name in names})

    def at_each_statement(self, first: str, second: str) -> Iterator[Meeting]:
        """Yield the outcomes of holding the first act there until the second waits or is done."""
        here, there = self._threads
        for place in range(1000):
            self._restore()
            hold = _Hold(place)
            held = here.submit(hold.run, self._acts[first])
            met = there.submit(hold.encounter.come, self._acts[second])
            answers = {first: held.result(), second: met.result()}
            if not hold.has_held:
                return
            yield Meeting(place, _tell(answers), hold.is_overtaken)

    def _restore(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(self._put_back)

    def end(self) -> None:
        for thread in self._threads:
            thread.submit(connections.close_all)
            thread.shutdown()
        connection.close()  # which drops the temporary copies


class _Hold:
    """Holds an act before a statement, or its commit, until the other act waits or is done."""

    def __init__(self, place: int) -> None:
        self.encounter = Encounter()
        self.has_held = self.is_overtaken = False
        self._left = place

    def run(self, act: Act) -> str:
        database = connections[connection.alias]
        commit = database.commit

        def commit_later() -> None:
            self._come_by()
            commit()

        with (
            database.execute_wrapper(self._execute),
            patch.object(database, "commit", commit_later),
        ):
            try:
                return act()
            finally:
                self.encounter.pass_by()

    def _execute(self, run: Any, *args: Any) -> Any:
        self._come_by()
        return run(*args)

    def _come_by(self) -> None:
        self._left -= 1
        if self._left == -1:
            self.has_held = True
            self.is_overtaken = self.encounter.wait_here()


def _copy_tables() -> str:
    """Copy all tables; return the statement that restores them from the copies."""
    emptied, filled = [], []
    with connection.cursor() as cursor:
        for table in _tables():
            cursor.execute(f"CREATE TEMPORARY TABLE copy_{table} AS TABLE {table}")
            emptied.append(f"DELETE FROM {table};")  # noqa: S608  a table of our own
            filled.append(f"INSERT INTO {table} TABLE copy_{table};")
    return f"DO $$ BEGIN {''.join(emptied + filled)} END $$"


def _tables() -> list[str]:
    models = [apps.get_app_config(app).get_models(include_auto_created=True) for app in APPS]
    return [model._meta.db_table for each in models for model in each]


def _tell(answers: Mapping[str, str]) -> Outcome:
    assert list(find_breaks()) == []
    assert _read_words() == _find_words()
    held = take_snapshot(*APPS)
    del held["invoices.SearchWord"]  # a draft code may be one word or two
    return Outcome(answers, {table: _read_facts(rows) for table, rows in held.items()})


def _read_words() -> set[tuple[bytes, ...]]:
    rows = SearchWord.objects.values_list("word", "customer", "record")
    return {tuple(map(bytes, row)) for row in rows}


def _find_words() -> set[tuple[bytes, ...]]:
    of_customers = map(rows_of_customer, Customer.objects.all())
    of_documents = map(rows_of_document, Document.objects.select_related("customer"))
    return {tuple(row) for rows in (*of_customers, *of_documents) for row in rows}


def _read_facts(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows without what differs from run to run, such as IDs and times."""
    told = (str, int, bool, type(None))
    facts = (tuple(value for value in row if isinstance(value, told)) for row in rows)
    return sorted((tuple(map(_leave_chance_out, each)) for each in facts), key=repr)


def _leave_chance_out(value: Any) -> Any:
    return CHANCE.sub("", value) if isinstance(value, str) else value
