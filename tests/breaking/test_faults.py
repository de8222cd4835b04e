"""What the faults of `./dev break` rest on: which release was before, and figures added up."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.breaking.columns import COLUMNS
from tests.breaking.faults.fault import UnavailableFaultError
from tests.breaking.faults.migrations import find_release_before
from tests.breaking.sums import add_up
from tests.breaking.test_report import REPORT

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

FIRST = "app/migrations/0001_initial.py"
SECOND = "app/migrations/0002_more.py"


@pytest.fixture
def history(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "Nobody")
    git(tmp_path, "config", "user.email", "nobody@halden.example")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  our own command
        ["git", *arguments],  # noqa: S607  the one on the path
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(folder: Path, **texts: str) -> str:
    """Commit these files alone and return the commit."""
    for path in folder.glob("app/**/*.py"):
        path.unlink()
    for name, text in texts.items():
        path = folder / {"first": FIRST, "second": SECOND, "other": "app/other.py"}[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "A commit")
    return git(folder, "rev-parse", "HEAD")


def test_the_release_before_is_the_newest_commit_with_fewer_migrations(history):
    commit(history, first="1")
    before = commit(history, first="1", other="x")
    commit(history, first="1", second="a draft of it")
    commit(history, first="1", second="2")
    commit(history, first="1", second="2", other="y")

    assert find_release_before(history) == before


def test_without_an_earlier_migration_there_is_no_release_before(history):
    commit(history, first="0")
    commit(history, first="1")

    with pytest.raises(UnavailableFaultError):
        find_release_before(history)


def test_without_a_repository_there_is_no_release_before(tmp_path):
    with pytest.raises(UnavailableFaultError):
        find_release_before(tmp_path)


def test_what_several_runs_found_is_added_up():
    nothing = dict.fromkeys(COLUMNS, ())
    one = replace(
        REPORT,
        deeds={"PostgreSQL killed": 2, "worker killed": 1},
        interruptions={"no answer": 3},
        found=nothing | {"gaps": ["nobody has 7"]},
    )
    other = replace(
        one,
        deeds={"disk filled": 4, "worker killed": 1},
        interruptions={"unavailable": 5},
        found=nothing | {"gaps": ["nobody has 9"], "only here": ["a case"]},
    )

    both = add_up([one, other])

    assert (both.seconds, both.writes, both.interrupted) == (120, 18, 8)
    assert both.deeds == {"PostgreSQL killed": 2, "disk filled": 4, "worker killed": 2}
    assert both.counts == dict.fromkeys(COLUMNS, 0) | {"gaps": 2, "only here": 1}
