"""The figures that people read are those of the last run, each of the same work."""

import json
import subprocess
import sys
from functools import partial
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
    ("goals", "kept"),
    [
        ({"a": True}, "2 measurements, failed: 0, goals missed: 0."),
        ({"a": False, "b": False}, "2 measurements, failed: 0, goals missed: 4."),
        ({}, None),
    ],
)
def test_what_was_measured_is_kept_unless_a_measurement_failed(
    goals, kept, monkeypatch, tmp_path, capsys
):
    status = tell_missed(goals) if kept else 1
    told = f"| a table |\n{capsys.readouterr().out}"
    monkeypatch.setattr(scale, "RESULTS", tmp_path / "scale.md")
    monkeypatch.setattr(scale, "MEASUREMENTS", dict.fromkeys("xy", ("--size", 9, 1)))
    monkeypatch.setattr(sys, "argv", ["scale"])
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: CompletedProcess(command, status, told)
    )
    assert scale.main() == int(not kept)
    assert scale.RESULTS.exists() == bool(kept)
    if kept:
        page = scale.RESULTS.read_text(encoding="utf-8")
        assert page.startswith(f"# Scale\n\n{kept}\n\n## X\n\n`python -m benchmarks.x --size 9`, ")
        assert page.count(told.strip()) == len("xy")


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
