"""The figures that people read are those of the last run, each of the same work."""

import json
from functools import partial
from typing import Any

import pytest

from benchmarks.__main__ import require_same_fields
from benchmarks.measuring import measure_in_turns
from benchmarks.plot import draw_bars
from benchmarks.report import BEGIN, END, PLOT, README, RESULTS, SUBJECTS, format_section
from benchmarks.subjects import Step, Subject

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite


def test_the_readme_shows_the_last_run():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    text = README.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == format_section(results)
    assert PLOT.read_text(encoding="utf-8") == draw_bars(results["work"], SUBJECTS)


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
