"""The rows of the promises fit the code, the tests and the documents; `./dev guards` tries them."""

import ast
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest

from agent_access.database.triggers import installed_folders
from config.environment import PROJECT_FOLDER
from tests.environment import DATABASES
from tests.promises.documents import PAGE, write_page, write_table
from tests.promises.grounds import Copy
from tests.promises.rows import (
    Edit,
    Guard,
    read_guards,
    read_promises,
    read_source,
    read_themes,
)
from tests.promises.verdicts import Case, Verdict, find_not_green, judge

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

MARKUP = re.compile(r"\*\*|`")


@cache
def plain(path: str) -> str:
    """Return the text of a document without line breaks and marks of Markdown."""
    return " ".join(MARKUP.sub("", read_source(path)).split())


@cache
def functions_in(path: str) -> set[str]:
    tree = ast.parse(read_source(path))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def is_there(test: str) -> bool:
    path, *_, name = test.split("::")
    is_file = (PROJECT_FOLDER / path).is_file()
    return is_file and name.partition("[")[0] in functions_in(path)


def apply(guard: Guard) -> dict[str, str]:
    """Return the files without the guard, by path; raises ValueError."""
    changed: dict[str, str] = {}
    for edit in guard.edits:
        changed[edit.path] = edit.apply(changed.get(edit.path) or read_source(edit.path))
    return changed


def test_the_page_is_what_the_rows_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page(read_themes())


def test_every_promise_is_a_sentence_of_its_document() -> None:
    astray = [
        each.name
        for each in read_promises()
        if " ".join(MARKUP.sub("", each.sentence).split()) not in plain(each.said_in)
    ]
    assert astray == []


def test_every_promise_has_a_name_of_its_own_and_a_guard() -> None:
    names = [each.name for each in read_promises()]
    assert sorted(set(names)) == sorted(names)
    assert [each.name for each in read_promises() if not each.guards] == []


def test_every_guard_stands_where_its_row_says_and_leaves_code_that_can_be_read() -> None:
    for guard in read_guards():
        assert guard.edits or guard.sql, guard.name
        assert guard.database in DATABASES, guard.name
        assert guard.where.rpartition(".")[2] in read_source(guard.path), guard.name
        for path, text in apply(guard).items():
            assert text != read_source(path), guard.name
            if path.endswith(".py"):
                ast.parse(text, path)


def test_every_test_that_a_row_names_is_there() -> None:
    named = [(each.name, test) for each in read_guards() for test in each.tests]
    assert {each.name for each in read_guards()} == {name for name, _ in named}
    assert [each for each in named if not is_there(each[1])] == []


TRIGGER = re.compile(r"^CREATE TRIGGER (\S+)([^;]*?)(?:EXECUTE FUNCTION (\w+)\(\))?;", re.MULTILINE)


def find_unguarded(path: str, removed: Collection[str]) -> list[str]:
    """Return the triggers of a file that no guard removes, by their name or their function's.

    The name of a function is enough where it is that of one trigger, and another of TRUNCATE.
    """
    found = TRIGGER.findall(read_source(path))
    functions = [function for _, event, function in found if "TRUNCATE" not in event]
    return [
        name
        for name, event, function in found
        if name not in removed
        and ("TRUNCATE" in event or function not in removed or functions.count(function) > 1)
    ]


def test_every_trigger_is_one_that_a_guard_removes() -> None:
    for file in (file for folder in installed_folders for file in folder.glob("*.sql")):
        path = str(file.relative_to(PROJECT_FOLDER))
        removed = {each.where for each in read_guards() if each.path == path}
        assert removed, path
        assert find_unguarded(path, removed) == [], path


EDIT = Edit(path="notes.txt", before="a guard", after="none")


def test_an_edit_applies_where_its_text_stands_once() -> None:
    assert EDIT.apply("Here is a guard.") == "Here is none."
    for text in ("Here is no such text.", "Here is a guard, and a guard."):
        with pytest.raises(ValueError, match="instead of once"):
            EDIT.apply(text)


def test_what_was_removed_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    kept = project / "notes.txt"
    kept.write_text("Here is a guard.")
    monkeypatch.setattr("tests.promises.grounds.PROJECT_FOLDER", project)
    folder = tmp_path / "copy"
    folder.mkdir()
    copy = Copy(folder)
    copied = copy.project / "notes.txt"
    before = copied.stat().st_mtime_ns
    with copy.without([EDIT]):
        assert copied.read_text() == "Here is none."
    assert (copied.read_text(), copied.stat().st_mtime_ns) == ("Here is a guard.", before)
    assert kept.read_text() == "Here is a guard."


GUARD = Guard(
    name="notes",
    theme="Notes",
    kind="check",
    path="notes.py",
    where="check",
    database="sqlite",
    edits=[EDIT],
    sql="",
    tests=["t.py::test_a", "t.py::test_b"],
    raised=("AssertionError", "Failed"),
    note="",
)


def case(test: str, outcome: str = "failed", *, raised: str = "", when: str = "call") -> Case:
    return {"id": f"t.py::{test}", "outcome": outcome, "raised": raised, "when": when}


RED_A, RED_B = case("test_a", raised="AssertionError"), case("test_b[1]", raised="Failed")


@pytest.mark.parametrize(
    ("status", "cases", "fault"),
    [
        (1, [RED_A, case("test_b[0]", "passed"), RED_B], ""),
        (1, [RED_A, case("test_b", "passed")], "t.py::test_b stays green"),
        (1, [RED_A, case("test_b", "skipped")], "t.py::test_b stays green"),
        (1, [RED_A], "t.py::test_b did not run"),
        (1, [RED_A, case("test_bc", raised="Failed")], "t.py::test_b did not run"),
        (2, [], "pytest did not run (status 2)"),
        (
            1,
            [RED_A, case("test_b", raised="NameError")],
            "t.py::test_b fails by no assertion: NameError in call",
        ),
        (
            1,
            [RED_A, case("test_b", raised="AssertionError", when="setup")],
            "t.py::test_b fails by no assertion: AssertionError in setup",
        ),
    ],
)
def test_only_a_test_that_fails_by_what_it_asserts_is_red(status, cases, fault) -> None:
    assert judge(GUARD, status, cases) == fault


def test_a_test_is_green_that_ran_and_failed_nowhere() -> None:
    cases = [
        case("test_a", "passed"),
        case("test_b[0]", "passed"),
        case("test_b[1]", "skipped", when="setup"),
    ]
    assert find_not_green(GUARD.tests, 0, cases) == []
    assert find_not_green(GUARD.tests, 1, [*cases, RED_B]) == ["t.py::test_b"]
    assert find_not_green(GUARD.tests, 0, cases[:1]) == ["t.py::test_b"]
    assert find_not_green(GUARD.tests, 4, []) == GUARD.tests


def test_a_run_is_told_by_themes() -> None:
    verdicts = [Verdict(guard=GUARD, fault=""), Verdict(guard=GUARD, fault="stays green")]
    table = write_table(verdicts, seconds=90)
    assert "| Notes | 2 | 1 |" in table
    assert "| **all** | **2** | **1** |" in table
    assert "1.5 minutes" in table
