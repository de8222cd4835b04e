"""Adds up the reports of several runs, and sets them beside each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import reduce
from typing import Any

from tests.breaking.report import Report


def add_up(reports: Sequence[Report]) -> Report:
    """Return one report of several runs: every figure added, every case kept."""
    return reduce(_add, reports)


def compare(reports: Mapping[str, Report]) -> str:
    """Write a table of Markdown with a row for each fault: what it came to and what was found."""
    lines = ["| fault | minutes | writes | interrupted | invoices | found |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, each in reports.items():
        found = sum(each.counts.values())
        figures = (f"{each.seconds / 60:.1f}", each.writes, each.interrupted, each.issued, found)
        lines.append(f"| {name} | {' | '.join(str(figure) for figure in figures)} |")
    return "\n".join(lines)


def _add(one: Report, other: Report) -> Report:
    names = [each.name for each in fields(Report)]
    return Report(**{name: _join(getattr(one, name), getattr(other, name)) for name in names})


def _join(one: Any, other: Any) -> Any:
    if not isinstance(one, Mapping):
        return one + other
    if any(isinstance(each, Sequence) for each in (*one.values(), *other.values())):
        # An order of its own: what only one fault could cause comes behind what all could.
        return {name: [*one.get(name, ()), *other.get(name, ())] for name in {**one, **other}}
    return dict(sorted((Counter(one) + Counter(other)).items()))
