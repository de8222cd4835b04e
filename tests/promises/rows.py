"""The promises, their guards, and what shows that each guard is needed: read from `*.toml`.

A file is a theme with a title and promises. A promise is a sentence of a document, and has guards.
A guard can be removed by replacing exact texts of the code, or by SQL in the test's database, and
names the tests that have to fail then.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from config.environment import PROJECT_FOLDER

FOLDER = Path(__file__).parent
# What a test raises whose assertion fails; `Failed` is pytest's own, where nothing was raised.
ASSERTIONS = ("AssertionError", "Failed")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A text of a file that stands there exactly once, and what stands there without the guard."""

    path: str
    before: str
    after: str

    def apply(self, text: str) -> str:
        """Return the file's text without the guard; raises ValueError if it is not there once."""
        found = text.count(self.before)
        if found != 1:
            raise ValueError(f"{self.path} has this {found} times instead of once: {self.before}")
        return text.replace(self.before, self.after)


@dataclass(frozen=True, kw_only=True)
class Guard:
    """What keeps a promise, named `promise`, or `promise.2` for the second of its guards.

    `kind` is trigger, constraint, lock, conditional update, check and the like; `where` is the name
    by which it is found in its file. Without `edits` it is removed by `sql`. `raised` are the names
    of the exceptions with which a test may fail.
    """

    name: str
    theme: str
    kind: str
    path: str
    where: str
    database: str
    edits: Sequence[Edit]
    sql: str
    tests: Sequence[str]
    raised: Sequence[str]
    note: str


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A sentence as the document `said_in` has it, and its guards."""

    name: str
    sentence: str
    said_in: str
    guards: Sequence[Guard]


@dataclass(frozen=True, kw_only=True)
class Theme:
    title: str
    promises: Sequence[Promise]


@cache
def read_themes() -> Sequence[Theme]:
    """Return the themes in the order of their files' names; raises KeyError and TypeError."""
    return [_read_theme(path) for path in sorted(FOLDER.glob("*.toml"))]


def read_guards() -> list[Guard]:
    return [guard for promise in read_promises() for guard in promise.guards]


def read_promises() -> Iterator[Promise]:
    for theme in read_themes():
        yield from theme.promises


def _read_theme(path: Path) -> Theme:
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return Theme(
        title=found["title"],
        promises=[_read_promise(each, found["title"]) for each in found["promise"]],
    )


def _read_promise(row: Mapping[str, Any], theme: str) -> Promise:
    name = row["name"]
    guards = [
        _read_guard(name if place == 1 else f"{name}.{place}", theme, each)
        for place, each in enumerate(row["guard"], start=1)
    ]
    return Promise(name=name, sentence=row["sentence"], said_in=row["said_in"], guards=guards)


def _read_guard(name: str, theme: str, row: Mapping[str, Any]) -> Guard:
    first = [row] if "before" in row else []
    edits = [
        Edit(path=each.get("path", row["path"]), before=each["before"], after=each["after"])
        for each in (*first, *row.get("also", ()))
    ]
    return Guard(
        name=name,
        theme=theme,
        kind=row["kind"],
        path=row["path"],
        where=row["where"],
        database=row.get("database", "sqlite"),
        edits=edits,
        sql=row.get("sql", ""),
        tests=row["tests"],
        raised=(*ASSERTIONS, *row.get("raised", ())),
        note=row.get("note", ""),
    )


def read_source(path: str) -> str:
    return (PROJECT_FOLDER / path).read_text(encoding="utf-8")
