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

# CPU time of DRF's read on the machine for which the goals in absolute times were set.
DRF_READ_MS = 4.6

SUBJECTS = ("bare SQL", "product", "DRF", "product over MCP", "FastMCP")
Results = Mapping[str, Any]


@dataclass(frozen=True)
class Goal:
    """What was promised, and how it is read off the results."""

    work: str
    promise: str
    read: Callable[[Results], float]
    largest: float | None = None
    least: float | None = None

    def is_met(self, results: Results) -> bool:
        figure = self.read(results)
        return (self.largest is None or figure <= self.largest) and (
            self.least is None or figure >= self.least
        )


def _ratio(work: str, above: str, below: str, figure: str = "p50_ms") -> Callable[[Results], float]:
    def read(results: Results) -> float:
        by_subject = results["work"][work]
        return float(by_subject[above][figure] / by_subject[below][figure])

    return read


GOALS = (
    Goal(
        "read a document",
        "at most 1.5 ms of server CPU",
        lambda results: float(results["work"]["read"]["product"]["cpu_ms"]),
        largest=1.5,
    ),
    Goal(
        "read a document",
        "DRF takes at least 3 times the CPU",
        _ratio("read", "DRF", "product", "cpu_ms"),
        least=3,
    ),
    Goal(
        "read a document",
        "second milestone: 4 times",
        _ratio("read", "DRF", "product", "cpu_ms"),
        least=4,
    ),
    Goal(
        "list of 25",
        "DRF takes at least 3 times the CPU",
        _ratio("list", "DRF", "product", "cpu_ms"),
        least=3,
    ),
    Goal(
        "draft of 10 lines",
        "at most 3 times bare SQL",
        _ratio("create 10", "product", "bare SQL"),
        largest=3,
    ),
    Goal(
        "draft of 10 lines",
        "DRF takes at least 3 times the CPU",
        _ratio("create 10", "DRF", "product", "cpu_ms"),
        least=3,
    ),
    Goal(
        "draft of 10 lines",
        "DRF takes at least 3 times as long",
        _ratio("create 10", "DRF", "product"),
        least=3,
    ),
    Goal(
        "draft of 100 lines",
        "at most 2.5 times bare SQL with unnest",
        _ratio("create 100", "product", "bare SQL"),
        largest=2.5,
    ),
    Goal(
        "execute", "at most 4 times bare SQL", _ratio("execute", "product", "bare SQL"), largest=4
    ),
    Goal(
        "issue, 8 at once",
        "at least 300 a second",
        lambda results: float(results["issues_a_second"]["product"]),
        least=300,
    ),
    Goal("issue, 8 at once", "no gap", lambda results: float(results["gaps"]), largest=0),
    Goal(
        "MCP call",
        "at most 1.15 times the CPU of HTTP",
        _ratio("read", "product over MCP", "product", "cpu_ms"),
        largest=1.15,
    ),
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
        "at most 120 MiB after 10,000 requests",
        lambda results: max(results["mebibytes"].values()),
        largest=120,
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
    yield f"{options['rounds']} rounds of {options['requests']} requests.\n"


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
        verdict = "yes" if goal.is_met(results) else "**no**"
        yield f"| {goal.work} | {goal.promise} | {goal.read(results):.2f} | {verdict} |"
    pace = results["work"]["read"]["DRF"]["cpu_ms"] / DRF_READ_MS
    yield f"\nFor DRF's read this machine took {pace:.1f} times as long as the one of the goals."
