"""The rows of the matrix: what an act is called, which things it touches, and how it is done."""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

from tests.races.stage import Stage

Run = Callable[[Stage], Any]


class Thing(Enum):
    """What two acts can have in common: on the stage there is one of each, which all acts take."""

    DOCUMENT = auto()
    APPROVAL = auto()
    SERIES = auto()
    CONNECTION = auto()
    PERSON = auto()
    ORIGINAL = auto()
    CUSTOMER = auto()
    RATE = auto()
    CLIENT = auto()
    PASSKEY = auto()
    NOTICE = auto()


Things = Sequence[Thing]


class Act(NamedTuple):
    """One row; `run` returns what its caller is told, or raises what refuses it.

    It writes something of what it `changes`, and what it `needs` decides whether and how. Once one
    that `ends` something was answered, nothing is written any more by what it has ended. Only an
    act that `goes_on` is: upkeep, which is nobody's; a sign-in, whose session is worth nothing
    then; a page that is read, and a draft or a thing of their own that a person saves. One
    that `has_parts` is made of several transactions, or writes before it takes the locks of an act:
    others may write in between.
    """

    name: str
    changes: frozenset[Thing]
    needs: frozenset[Thing]
    run: Run
    ends: bool
    has_parts: bool
    goes_on: bool

    def meets(self, other: "Act") -> bool:
        """Return whether the two touch the same thing, which one of them changes."""
        touches = self.changes | self.needs
        return bool(touches & other.changes or self.changes & other.needs)


Pair = tuple[Act, Act]
_rows: dict[str, Act] = {}


def act(
    name: str,
    *changes: Thing,
    needs: Things = (),
    ends: bool = False,
    has_parts: bool = False,
    goes_on: bool = False,
) -> Callable[[Run], Run]:
    """Add a function to the table."""

    def add(run: Run) -> Run:
        assert name not in _rows, name
        touched = frozenset(changes), frozenset(needs)
        _rows[name] = Act(name, *touched, run, ends, has_parts, goes_on)
        return run

    return add


def read_table() -> Sequence[Act]:
    """Return all rows, in the order of their names."""
    from tests.races import acts  # noqa: F401, PLC0415  whose modules fill the table

    return [_rows[name] for name in sorted(_rows)]


def make_pairs(rows: Sequence[Act]) -> Iterator[Pair]:
    """Yield the pairs of acts that share a thing; most acts are a pair with themselves."""
    for one, other in combinations_with_replacement(rows, 2):
        if one.meets(other):
            yield one, other
