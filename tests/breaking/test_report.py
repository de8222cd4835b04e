"""What `./dev break` says and how it ends."""

import sys
from dataclasses import replace

import pytest

from tests.breaking import __main__ as command
from tests.breaking.columns import COLUMNS
from tests.breaking.drivers.everyone import DRIVERS
from tests.breaking.faults import FAULTS
from tests.breaking.faults.fault import UnavailableFaultError
from tests.breaking.report import Report

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

REPORT = Report(
    seconds=60,
    deeds={"PostgreSQL killed": 2},
    writes=9,
    interruptions={"no answer": 3, "unavailable": 1},
    doubled=1,
    replays=1,
    decisions=2,
    repeated_decisions=0,
    issued=2,
    corrected=1,
    signed=1,
    found={name: [] for name in COLUMNS},
)


@pytest.mark.parametrize(
    ("gaps", "writes", "status"),
    [([], 9, 0), (["nobody has 7"], 9, 1), ([], 0, 1)],
    ids=["sound", "found", "idle"],
)
def test_a_run_ends_well_if_it_found_nothing_and_else_keeps_its_evidence(
    tmp_path, monkeypatch, capsys, gaps, writes, status
):
    report = replace(REPORT, writes=writes, found={**REPORT.found, "gaps": gaps})
    logs, result = tmp_path / "logs", tmp_path / "result.md"
    logs.mkdir()
    monkeypatch.setattr(command, "mkdtemp", lambda **_: str(logs))
    monkeypatch.setattr(command, "_run", lambda *_: ({"kills": report}, []))
    monkeypatch.setattr(sys, "argv", ["break", "--minutes", "1", "--result", str(result)])

    assert command.main() == status

    table, _, cases = capsys.readouterr().out.partition("\n\n")
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in table.splitlines()]
    assert ["**interrupted writes**", "**4**"] in rows
    assert ["**gaps**", f"**{len(gaps)}**"] in rows
    assert result.read_text(encoding="utf-8").endswith(f"{table.strip()}\n")
    assert [f"gaps: {each}" in cases for each in gaps] == [True] * len(gaps)
    assert logs.exists() is (status == 1)


def test_a_fault_that_this_machine_cannot_have_is_named_and_fails_the_run(
    tmp_path, monkeypatch, capsys
):
    def break_by(name: str, *_: object) -> list[Report]:
        if name == "disk":
            raise UnavailableFaultError("Only root may.")
        return [REPORT]

    told = "The fault disk was left out. Only root may.\n"
    result = tmp_path / "result.md"
    monkeypatch.setattr(command, "_break_by", break_by)
    monkeypatch.setattr(sys, "argv", ["break", "--minutes", "1", "--result", str(result)])
    assert command.main() == 1
    assert capsys.readouterr().out.endswith(told)
    assert result.read_text(encoding="utf-8").endswith(f"\n\n{told}")

    monkeypatch.setattr(sys, "argv", ["break", "--minutes", "1", "--fault", "disk"])
    assert command.main() == 1
    assert capsys.readouterr().out == told


def test_a_driver_that_cannot_work_under_the_fault_is_refused(monkeypatch, capsys):
    assert FAULTS["migrations"].without <= {driver.name for driver in DRIVERS}
    chosen = ["--fault", "migrations", "--driver", "packages"]
    monkeypatch.setattr(sys, "argv", ["break", "--minutes", "1", *chosen])

    with pytest.raises(SystemExit):
        command.main()

    sentence = "Under migrations there is no driver packages."
    assert capsys.readouterr().err.endswith(f"{sentence}\n")
