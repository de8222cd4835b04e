"""What a run of the matrix found, as a table by the things that acts have in common."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.races.table import Act, Thing

HEADINGS = ("Thing", "Acts", "Pairs", "Meetings", "Second waited", "Second went first", "Findings")


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of pairs and of histories, as processes wrote them down."""

    rows: Sequence[Act]
    pairs: int
    results: Sequence[Mapping[str, Any]]

    @property
    def tried(self) -> list[Mapping[str, Any]]:
        return [each for each in self.results if "first" in each]

    @property
    def findings(self) -> list[str]:
        return [finding for each in self.results for finding in each["findings"]]

    @property
    def is_whole(self) -> bool:
        """Return whether every pair was tried."""
        return len(self.tried) == self.pairs

    def table(self) -> str:
        """Return the table; a pair with several things in common counts for each of them."""
        acts = {row.name: row for row in self.rows}
        lines = ["| " + " | ".join(HEADINGS) + " |", "|---|" + "---:|" * (len(HEADINGS) - 1)]
        for thing in Thing:
            of_thing = [row for row in self.rows if thing in row.changes | row.needs]
            results = [
                each
                for each in self.tried
                if _meet_at(thing, acts[each["first"]], acts[each["second"]])
            ]
            lines.append(_line(thing.name.lower(), len(of_thing), results))
        lines.append(_line("**all**", len(self.rows), self.tried))
        calls = sum(each.get("calls", 0) for each in self.results)
        anomalies = sum(len(each["findings"]) for each in self.results if "calls" in each)
        told = f"Recorded histories: {calls:,} calls, {anomalies} anomalies."
        share = f"{len(self.tried):,} of {self.pairs:,} pairs were tried."
        return "\n".join(lines) + f"\n\n{share} {told}"


def _meet_at(thing: Thing, one: Act, other: Act) -> bool:
    changed = thing in one.changes | other.changes
    return changed and all(thing in each.changes | each.needs for each in (one, other))


def _line(name: str, acts: int, results: Iterable[Mapping[str, Any]]) -> str:
    told = list(results)
    meetings = sum(each["meetings"] for each in told)
    overtaken = sum(each["overtaken"] for each in told)
    findings = sum(len(each["findings"]) for each in told)
    figures = (acts, len(told), meetings, meetings - overtaken, overtaken, findings)
    return f"| {name} | " + " | ".join(f"{each:,}" for each in figures) + " |"
