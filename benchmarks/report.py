"""From figures to what people read: a table, the goals, and a plot."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.plot import draw_bars

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "speed.json"
PLOT = FOLDER / "results" / "speed.svg"
README = FOLDER / "README.md"
BEGIN, END = "<!-- figures: written by ./dev bench -->\n", "<!-- end of figures -->\n"

SUBJECTS = ("bare SQL", "product", "DRF", "product over MCP", "FastMCP")
Results = Mapping[str, Any]


@dataclass(frozen=True)
class Goal:
    """What was promised, and how it is read off the results.

    A run with fewer requests than `load` before memory was read meets nothing.
    """

    work: str
    promise: str
    read: Callable[[Results], float]
    largest: float | None = None
    least: float | None = None
    load: int = 0

    def verdict(self, results: Results) -> str:
        figure = self.read(results)
        if (self.largest is not None and figure > self.largest) or (
            self.least is not None and figure < self.least
        ):
            return "**no**"
        load = results["options"]["load"]
        return "yes" if load >= self.load else f"not shown, after {load:,} requests"


def _ratio(work: str, above: str, below: str, figure: str = "p50_ms") -> Callable[[Results], float]:
    def read(results: Results) -> float:
        by_subject = results["work"][work]
        return float(by_subject[above][figure] / by_subject[below][figure])

    return read


def _drf_cpu(work: str) -> Callable[[Results], float]:
    return _ratio(work, "DRF", "product", "cpu_ms")


# Floors: above them, simpler code is worth more than a shorter time.
GOALS = (
    Goal("read", "DRF takes at least 3.3 times the CPU", _drf_cpu("read"), least=3.3),
    Goal("list of 25", "DRF takes at least 2.7 times the CPU", _drf_cpu("list"), least=2.7),
    Goal("draft of 10 lines", "DRF takes at least twice the CPU", _drf_cpu("create 10"), least=2),
    Goal(
        "draft of 100 lines",
        "DRF takes at least 4 times the CPU",
        _drf_cpu("create 100"),
        least=4,
    ),
    Goal("execute", "DRF takes at least 1.6 times the CPU", _drf_cpu("execute"), least=1.6),
    Goal("issue, 8 at once", "no gap", lambda results: float(results["gaps"]), largest=0),
    Goal(
        "MCP call",
        "not slower than FastMCP",
        _ratio("read", "product over MCP", "FastMCP"),
        largest=1,
    ),
    Goal(
        "start",
        "at most 1.2 s to the first answer",
        lambda results: float(results["start_seconds"]),
        largest=1.2,
    ),
    Goal(
        "memory",
        "at most 140 MiB after 10,000 requests",
        lambda results: max(results["mebibytes"].values()),
        largest=140,
        load=10_000,
    ),
)


def write_results(results: Results) -> None:
    """Write the results as JSON, the plot, and their place in the README."""
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    PLOT.write_text(draw_bars(results["work"], SUBJECTS), encoding="utf-8")
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    README.write_text(before + BEGIN + format_section(results) + END + after, encoding="utf-8")


def format_section(results: Results) -> str:
    """Return the tables of a run in Markdown."""
    return "\n".join([*_machine(results), *_figures(results), *_goals(results), ""])


def _machine(results: Results) -> Iterator[str]:
    machine, options = results["machine"], results["options"]
    yield f"{machine['date']}, {machine['processor']}, {machine['system']},"
    yield f"Python {machine['python']}, load {machine['load']};"
    yield (
        f"{options['rounds']} rounds of {options['requests']} requests,"
        f" memory after {options['load']:,}.\n"
    )


def _figures(results: Results) -> Iterator[str]:
    yield "| p50 / p99 in ms, server CPU in brackets | " + " | ".join(SUBJECTS) + " |"
    yield "|---" * (len(SUBJECTS) + 1) + "|"
    for work, by_subject in results["work"].items():
        cells = (_cell(by_subject.get(subject)) for subject in SUBJECTS)
        yield f"| {work} | " + " | ".join(cells) + " |"
    rates = results["issues_a_second"]
    rate_cells = (f"{rates[subject]}/s" if subject in rates else "" for subject in SUBJECTS)
    yield "| issue, 8 clients on one series | " + " | ".join(rate_cells) + " |\n"


def _cell(figures: Mapping[str, Any] | None) -> str:
    if figures is None:
        return ""
    cpu = "" if figures["cpu_ms"] is None else f" ({figures['cpu_ms']:.2f})"
    return f"{figures['p50_ms']:.2f} / {figures['p99_ms']:.1f}{cpu}"


def _goals(results: Results) -> Iterator[str]:
    yield "| Goal | promised | measured | met |"
    yield "|---|---|---|---|"
    for goal in GOALS:
        figure, verdict = goal.read(results), goal.verdict(results)
        yield f"| {goal.work} | {goal.promise} | {figure:.2f} | {verdict} |"
