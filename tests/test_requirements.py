"""The manifest of the interface's sentences and the tests that carry their marks agree."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from config.environment import PROJECT_FOLDER

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

MANIFEST = PROJECT_FOLDER / "tests/requirements/interface.toml"
IDS = [
    f"{area}.{subject}"
    for area, sentences in tomllib.loads(MANIFEST.read_text(encoding="utf-8")).items()
    for subject in sentences
]


def read_marks(source: str) -> Iterator[str]:
    """Yield the ids that the requirement marks of a test file name, wherever the marks stand.

    The source is read, not run, so that the answer is the same when only some tests are selected.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            yield from (ast.literal_eval(argument) for argument in node.args)


@cache
def marks() -> set[tuple[str, str]]:
    """Return the path of each test file with each id that it marks."""
    folder = PROJECT_FOLDER / "tests"
    return {
        (str(path.relative_to(folder)), id_)
        for path in folder.rglob("test_*.py")
        if path != Path(__file__)
        for id_ in read_marks(path.read_text(encoding="utf-8"))
    }


def test_marks_are_read_from_modules_decorators_and_parameters() -> None:
    source = """
pytestmark = pytest.mark.requirement("of.module")

@pytest.mark.requirement("of.test", "of.test_too")
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.requirement("of.parameter"))])
def test_a(n): ...
"""
    assert sorted(read_marks(source)) == ["of.module", "of.parameter", "of.test", "of.test_too"]


def test_every_id_is_an_area_and_a_subject() -> None:
    assert [id_ for id_ in IDS if not re.fullmatch(r"[a-z_]+\.[a-z_]+", id_)] == []


def test_every_mark_names_a_requirement() -> None:
    assert sorted(mark for mark in marks() if mark[1] not in IDS) == []


def test_every_requirement_has_a_test() -> None:
    marked = {id_ for _, id_ in marks()}
    assert [id_ for id_ in IDS if id_ not in marked] == []
