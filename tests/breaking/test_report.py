"""What `./dev break` says and how it ends."""

import sys

import pytest

from tests.breaking import __main__ as command
from tests.breaking.columns import COLUMNS
from tests.breaking.report import Report

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize(
    ("gaps", "writes", "status"),
    [([], 9, 0), (["nobody has 7"], 9, 1), ([], 0, 1)],
    ids=["sound", "found", "idle"],
)
def test_a_run_ends_well_if_it_found_nothing_and_else_keeps_its_evidence(
    tmp_path, monkeypatch, capsys, gaps, writes, status
):
    report = Report(
        seconds=60,
        deeds={"PostgreSQL killed": 2},
        writes=writes,
        interruptions={"no answer": 3, "unavailable": 1},
        doubled=1,
        replays=1,
        decisions=2,
        repeated_decisions=0,
        issued=2,
        corrected=1,
        signed=1,
        found={name: [] for name in COLUMNS} | {"gaps": gaps},
    )
    logs, result = tmp_path / "logs", tmp_path / "result.md"
    logs.mkdir()
    monkeypatch.setattr(command, "mkdtemp", lambda **_: str(logs))
    monkeypatch.setattr(command, "_run", lambda *_: {"kills": report})
    monkeypatch.setattr(sys, "argv", ["break", "--minutes", "1", "--result", str(result)])

    assert command.main() == status

    table, _, cases = capsys.readouterr().out.partition("\n\n")
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in table.splitlines()]
    assert ["**interrupted writes**", "**4**"] in rows
    assert ["**gaps**", f"**{len(gaps)}**"] in rows
    assert result.read_text(encoding="utf-8").endswith(f"{table.strip()}\n")
    assert [f"gaps: {each}" in cases for each in gaps] == [True] * len(gaps)
    assert logs.exists() is (status == 1)
