"""What a run came to: how much was interrupted, and what was found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.breaking.evidence import Evidence
from tests.breaking.journal import Testimony

# Of each column; the folder that is kept has the rest.
CASES_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Report:
    """The figures of one run. An interrupted write is one whose first attempt told nothing."""

    seconds: float
    deeds: Mapping[str, int]
    writes: int
    interruptions: Mapping[str, int]
    doubled: int
    replays: int
    decisions: int
    repeated_decisions: int
    issued: int
    corrected: int
    signed: int
    found: Mapping[str, Sequence[str]]
    # What the drivers did.
    driven: Mapping[str, int] = field(default_factory=dict)

    @property
    def interrupted(self) -> int:
        return sum(self.interruptions.values())

    @property
    def is_clean(self) -> bool:
        """Return whether something was done and nothing was found."""
        return self.writes > 0 and not any(self.found.values())

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(cases) for name, cases in self.found.items()}

    def table(self) -> str:
        """Write the figures as a table of Markdown, which reads well on a terminal too."""
        rows = {
            "minutes": f"{self.seconds / 60:.1f}",
            **self.deeds,
            "writes": self.writes,
            "**interrupted writes**": f"**{self.interrupted}**",
            **{f"of these {cause}": count for cause, count in self.interruptions.items()},
            "retries sent twice at once": self.doubled,
            "stored answers given": self.replays,
            "decisions at the review page": self.decisions,
            "of these sent more than once": self.repeated_decisions,
            "invoices issued": self.issued,
            "credit notes issued": self.corrected,
            "of both signed with a passkey": self.signed,
            **self.driven,
            **{f"**{name}**": f"**{count}**" for name, count in self.counts.items()},
        }
        cells = [(name, str(value)) for name, value in rows.items()]
        width, height = (max(len(cell[place]) for cell in cells) for place in (0, 1))
        lines = [f"| {name:<{width}} | {value:>{height}} |" for name, value in cells]
        rule = f"| {'-' * width} | {'-' * (height - 1)}: |"
        return "\n".join([f"| {'':<{width}} | {'':<{height}} |", rule, *lines])

    def cases(self) -> str:
        """Tell some cases of every column that has any."""
        shown = [
            f"{name}: {case}" for name, each in self.found.items() for case in each[:CASES_SHOWN]
        ]
        return "\n".join(shown)


def sum_up(
    told: Testimony,
    evidence: Evidence,
    found: Mapping[str, Sequence[str]],
    *,
    deeds: Mapping[str, int],
    driven: Mapping[str, int],
    seconds: float,
) -> Report:
    operations = told.operations.values()
    interruptions = Counter(each.interruption for each in operations if each.interruption)
    return Report(
        seconds=seconds,
        deeds=dict(sorted(deeds.items())),
        writes=len(operations),
        interruptions=dict(sorted(interruptions.items())),
        doubled=sum(each.doubled for each in operations),
        replays=sum(reply.is_replay for each in operations for reply in each.replies),
        decisions=len(told.decisions),
        repeated_decisions=told.repeated_decisions,
        issued=len(evidence.issued),
        corrected=len(evidence.numbered) - len(evidence.issued),
        signed=evidence.signed,
        found=found,
        driven=driven,
    )
