"""Which tables a statement reads and which it writes or locks, by its text."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from django.apps import apps
from django.db.models import Model

WORD = re.compile(r"\w+")
# A SELECT that locks says FOR UPDATE or FOR NO KEY UPDATE.
WRITING = re.compile(r"\b(INSERT|UPDATE|DELETE)\b")
CHANGING = re.compile(r"\b(INSERT INTO|DELETE FROM|(?<!FOR )(?<!KEY )UPDATE)\b")
TARGET = re.compile(r'\b(?:INSERT INTO|DELETE FROM|UPDATE) "?(\w+)')
COMMIT = "COMMIT"
ROLLBACK = "ROLLBACK"  # of all, or to a savepoint
# Before a statement that no transaction is around, which commits by itself.
BY_ITSELF = "/* by itself */ "
# What migrations fill; no act writes it.
FIXED_APPS = ("contenttypes",)


class Footprint(NamedTuple):
    """The tables that are read or written, and those of them that are written or locked."""

    named: frozenset[str]
    taken: frozenset[str]

    def meets(self, other: "Footprint") -> bool:
        """Return whether it can make a difference which of the two comes first."""
        return bool(self.taken & other.named or self.named & other.taken)


@cache
def find_models() -> dict[str, type[Model]]:
    """Return the models whose rows an act may change, by the name of their table."""
    models = apps.get_models(include_auto_created=True)
    return {
        each._meta.db_table: each
        for each in models
        if each._meta.managed and each._meta.app_label not in FIXED_APPS
    }


@cache
def footprint_of(statement: str) -> Footprint:
    """Return the footprint of SQL; a row that refers to others locks those, so that they stay."""
    known = find_models()
    named = {word for word in WORD.findall(statement) if word in known}
    if not WRITING.search(statement):
        return Footprint(frozenset(named), frozenset())
    parents = {
        field.related_model._meta.db_table
        for table in named
        for field in known[table]._meta.concrete_fields
        if isinstance(field.related_model, type)
    }
    return Footprint(frozenset(named | (parents & known.keys())), frozenset(named))


def add_up(statements: Iterable[str]) -> Footprint:
    """Return the footprint of all these statements together."""
    each = [footprint_of(statement) for statement in statements]
    return Footprint(
        frozenset().union(*(one.named for one in each)),
        frozenset().union(*(one.taken for one in each)),
    )


def find_changed(statements: Iterable[str]) -> frozenset[str]:
    """Return the tables whose rows may have changed, without those that were only locked."""
    return add_up(each for each in statements if CHANGING.search(each)).taken


def find_targets(statements: Iterable[str]) -> frozenset[str]:
    """Return the tables in which rows are added, changed or deleted, without those only read."""
    named = {word for statement in statements for word in TARGET.findall(statement)}
    return frozenset(named & find_models().keys())


def has_committed(statements: Iterable[str]) -> bool:
    """Return whether any of what these wrote is there for others, whatever follows."""
    return any(
        each == COMMIT or (each.startswith(BY_ITSELF) and bool(footprint_of(each).taken))
        for each in statements
    )


def find_ends(statements: Sequence[str]) -> frozenset[int]:
    """Return which of them let go of locks, or leave for others what was written, by position."""
    ends, has_taken = set(), False
    for place, statement in enumerate(statements):
        if statement == COMMIT or statement.startswith(ROLLBACK):
            ends |= {place} if has_taken else set()
            has_taken = has_taken and statement not in {COMMIT, ROLLBACK}
        elif footprint_of(statement).taken:
            has_taken = not statement.startswith(BY_ITSELF)
            ends |= set() if has_taken else {place}
    return frozenset(ends)


def begins_part(statement: str, before: Iterable[str]) -> bool:
    """Return whether no transaction had begun before this statement, or with nothing but it."""
    if statement == COMMIT or statement.startswith(BY_ITSELF):
        return statement != COMMIT
    told = [each for each in before if each in {COMMIT, ROLLBACK} or footprint_of(each).named]
    return not told or told[-1] in {COMMIT, ROLLBACK} or told[-1].startswith(BY_ITSELF)


def find_places(statements: Sequence[str], other: Footprint) -> list[int]:
    """Return before which of an act's statements another act makes a difference, by position.

    Between two such places the order of the other act's statements and of this one's says nothing.
    A commit counts once something was written or locked since the end before.
    """
    ends = find_ends(statements)
    return [
        place
        for place, statement in enumerate(statements)
        if (statement == COMMIT and place in ends) or footprint_of(statement).meets(other)
    ]
