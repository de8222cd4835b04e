"""What came of acts: of one alone, of two one after the other, and of two that met."""

from collections.abc import Mapping
from typing import NamedTuple

from tests.races.answers import FAULT
from tests.races.footprints import Footprint, add_up
from tests.races.rows import Facts

# How many rows a statement was about, and the cells of those that it returned; None if unknown.
Result = tuple[int | bytes | None, ...] | None


class Outcome(NamedTuple):
    """What each act was told, by name, and what the database holds after both."""

    answers: Mapping[str, str]
    rows: Mapping[str, Facts]

    @property
    def faults(self) -> list[str]:
        return [told for told in self.answers.values() if told.startswith(FAULT)]


class Alone(NamedTuple):
    """What an act does by itself: its statements in order, what they found, and its answer."""

    statements: tuple[str, ...]
    results: tuple[Result, ...]
    answer: str

    @property
    def footprint(self) -> Footprint:
        return add_up(self.statements)


class Meeting(NamedTuple):
    """The outcome of holding the first act before this statement.

    `is_overtaken` if the second act ended meanwhile, instead of waiting for a lock. Else `waiting`
    is the footprint of what it did before, or None if it has committed some of that. It
    `comes_late` if the first one had committed some of what it did, and was `between_parts` if it
    was in no transaction then. The `results` are those of the first act's statements.
    """

    place: int
    statement: str
    outcome: Outcome
    is_overtaken: bool
    waiting: Footprint | None
    comes_late: bool
    between_parts: bool
    results: tuple[Result, ...]
