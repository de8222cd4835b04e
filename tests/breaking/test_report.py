"""What `./dev break` says and how it ends."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.breaking import __main__ as command
from tests.breaking.columns import COLUMNS
from tests.breaking.report import Report

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

NOTHING: Mapping[str, Sequence[str]] = {name: [] for name in COLUMNS}


def make_report(found: Mapping[str, Sequence[str]] = NOTHING, *, writes: int = 9) -> Report:
    return Report(
        seconds=90,
        deeds={"PostgreSQL killed": 2},
        writes=writes,
        interruptions={"no answer": 3, "unavailable": 1},
        doubled=1,
        replays=1,
        decisions=2,
        repeated_decisions=0,
        issued=2,
        found=found,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the run keeps its logs."""
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setattr(command, "mkdtemp", lambda **_: str(logs))
    return logs


def end_with(report: Report, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(command, "_run", lambda *_: report)
    monkeypatch.setattr(sys, "argv", ["break", "--minutes", "1", *options])
    return command.main()


def test_a_run_that_found_nothing_ends_well_and_keeps_its_table(folder, monkeypatch, capsys):
    result = folder.parent / "result.md"

    status = end_with(make_report(), monkeypatch, "--result", str(result))

    table = capsys.readouterr().out.strip()
    assert status == 0
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in table.splitlines()]
    assert ["**interrupted writes**", "**4**"] in rows
    assert ["**duplicates**", "**0**"] in rows
    written = result.read_text(encoding="utf-8")
    assert written.startswith("# What `./dev break --minutes 1 --seed 0` found\n")
    assert written.endswith(f"{table}\n")
    assert not folder.exists()


def test_a_finding_is_told_and_its_evidence_kept(folder, monkeypatch, capsys):
    report = make_report({**NOTHING, "gaps": ["nobody has 7"]})

    assert end_with(report, monkeypatch) == 1

    assert capsys.readouterr().out.endswith(
        f"\n\ngaps: nobody has 7\n\nThe logs are in {folder}.\n"
    )
    assert folder.exists()


def test_a_run_in_which_nothing_was_written_shows_nothing(folder, monkeypatch):
    assert end_with(make_report(writes=0), monkeypatch) == 1
