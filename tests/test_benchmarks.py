"""The figures that people read are those of the last run, each of the same work."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from benchmarks import scale
from benchmarks.__main__ import require_same_fields
from benchmarks.goals import tell_missed
from benchmarks.measuring import measure_in_turns
from benchmarks.plot import draw_bars
from benchmarks.report import BEGIN, END, PLOT, README, RESULTS, SUBJECTS, Goal, format_section
from benchmarks.subjects import Step, Subject

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_the_readme_shows_the_last_run():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    text = README.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == format_section(results)
    assert PLOT.read_text(encoding="utf-8") == draw_bars(results["work"], SUBJECTS)


@pytest.mark.parametrize(
    ("figure", "load", "verdict"),
    [
        (140, 10_000, "yes"),
        (140, 2_000, "not shown, after 2,000 requests"),
        (141, 2_000, "**no**"),
    ],
)
def test_a_goal_is_not_met_by_a_smaller_load_than_its_own(figure, load, verdict):
    goal = Goal("memory", "at most 140 MiB", lambda _: figure, largest=140, load=10_000)
    assert goal.verdict({"options": {"load": load}}) == verdict


@pytest.mark.parametrize(
    ("goals", "ended", "is_kept"),
    [
        ({"a": True}, "2 measurements, failed: 0, goals missed: 0.", True),
        ({"a": False, "b": False}, "2 measurements, failed: 0, goals missed: 4.", True),
        ({}, "2 measurements, failed: 2, goals missed: 0. Failed: x, y.", False),
    ],
)
def test_what_was_measured_is_kept_unless_it_failed(
    goals, ended, is_kept, monkeypatch, tmp_path, capsys
):
    status = tell_missed(goals) if is_kept else 1
    told = f"| a table |\n{capsys.readouterr().out}"
    measure(monkeypatch, tmp_path, CompletedProcess([], status, told))
    assert scale.main() == int(not is_kept)
    assert capsys.readouterr().out.splitlines()[-1] == ended
    page = f"# What `python -m benchmarks.x --size 9` found\n\n{told}"
    assert kept(tmp_path) == ({"x.md": page, "y.md": page.replace(".x", ".y")} if is_kept else {})


@pytest.mark.parametrize(
    ("options", "files"),
    [(["--only", "y"], {"y.md"}), (["--small"], set()), (["--size", "y=8"], {"x.md"})],
)
def test_only_what_was_measured_in_full_is_kept(options, files, monkeypatch, tmp_path):
    measure(monkeypatch, tmp_path, CompletedProcess([], 0, "| a table |\n"), *options)
    assert scale.main() == 0
    assert set(kept(tmp_path)) == files


def measure(
    monkeypatch: pytest.MonkeyPatch, folder: Path, ran: CompletedProcess[str], *options: str
) -> None:
    """Let scale.main() run with these options, have two measurements, and this come of each."""
    monkeypatch.setattr(scale, "RESULTS", folder)
    monkeypatch.setattr(scale, "MEASUREMENTS", dict.fromkeys("xy", ("--size", 9, 1)))
    monkeypatch.setattr(sys, "argv", ["scale", *options])
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ran)


def kept(folder: Path) -> dict[str, str]:
    return {page.name: page.read_text(encoding="utf-8") for page in folder.iterdir()}


def test_subjects_take_turns_and_the_first_round_is_not_counted():
    done: list[str] = []

    def make_subject(name: str) -> Subject:
        return Subject(name, {"work": lambda amount: [lambda: done.append(name)] * amount})

    subjects = [make_subject("a"), make_subject("b")]
    results = measure_in_turns(subjects, rounds=2, requests=2)
    assert done == ["a", "a", "b", "b"] * 3
    assert {name: len(each.seconds) for name, each in results["work"].items()} == {"a": 4, "b": 4}


def answering(record: dict[str, Any], *, in_data: bool) -> Subject:
    """Return a subject whose every answer has this record, within `data` as ours or bare."""
    answers = {"read": record, "list": {"results": [record]}}
    if in_data:
        answers = {"read": {"data": record}, "list": {"data": [record]}}

    def prepare(operation: str, amount: int) -> list[Step]:
        return [partial(json.dumps, answers[operation])] * amount

    return Subject("any", {operation: partial(prepare, operation) for operation in answers})


def test_the_run_ends_where_a_peer_answers_other_fields():
    product = answering({"id": 1, "lines": [{"unit": "h"}]}, in_data=True)
    require_same_fields(
        product, answering({"id": "b", "lines": [{"unit": None}, {}]}, in_data=False)
    )
    with pytest.raises(AssertionError, match="read"):
        require_same_fields(product, answering({"id": 1, "lines": [{"net": 1}]}, in_data=False))
