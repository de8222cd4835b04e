"""Every place in the documents that has figures of measurements, with their commands and days.

    python -m tests.figures --since 2026-11-28

prints them, the oldest first, and exits with 1 if one is of before that day, such as of before the
last change of what it measures: run its commands again.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from config.environment import PROJECT_FOLDER

RESULTS = PROJECT_FOLDER / "benchmarks" / "results"
# Decisions have the figures of their day, promises the limits of the contract.
DOCUMENTS = sorted(
    {
        *PROJECT_FOLDER.glob("*.md"),
        *PROJECT_FOLDER.glob("docs/*.md"),
        *PROJECT_FOLDER.glob("*/README.md"),
        *RESULTS.glob("*.md"),
    }
    - {PROJECT_FOLDER / "CHANGELOG.md", PROJECT_FOLDER / "docs" / "promises.md"}
)
# Times and sizes that are settings, limits or another program's, and were not measured.
LIMITS = {
    "benchmarks/README.md": {"60 calls"},
    "docs/agents.md": {"256 KiB", "5 minutes", "15 minutes", "20 minutes"},
    "docs/operations.md": {
        *("3.5 seconds", "5 seconds", "10 seconds", "25 seconds", "30 seconds"),
        *("1 MiB", "16 MiB", "1 GB"),
    },
    "docs/owner.md": {"15 minutes"},
    "docs/security.md": {"16 KiB", "256 KiB"},
}
UNITS = "ms|s|milliseconds|seconds|minutes|KiB|MiB|GiB|kB|KB|MB|GB"
RATES = r"(?:[a-z]+ )?a second|cores|calls"
FIGURE = re.compile(rf"\b[0-9][0-9.,]* (?:{UNITS}|{RATES})\b")
# A table whose head has the unit of its cells.
COLUMN = re.compile(rf"^\|.*\b(?:{UNITS}|CPU)\b.*\|\n\|[-:| ]+\|$", re.MULTILINE)
COMMAND = re.compile(r"`((?:python -m|\./dev)\s[^`]+)`")
DAY = re.compile(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b")
FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A section of a document, or a whole page of results, in which there are figures."""

    document: str
    heading: str
    figures: tuple[str, ...]
    commands: tuple[str, ...]
    day: date | None

    @property
    def is_sourced(self) -> bool:
        """Return whether one can tell how the figures came about, and when."""
        return bool(self.commands) and self.day is not None


def find_places() -> Iterator[Place]:
    """Yield every section with figures, and every page of results."""
    for document in DOCUMENTS:
        text = FENCED.sub("", document.read_text(encoding="utf-8"))
        name = document.relative_to(PROJECT_FOLDER).as_posix()
        if document.parent == RESULTS:
            yield read_place(name, text)
            continue
        for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
            place = read_place(name, section)
            if place.figures:
                yield place


def read_place(document: str, section: str) -> Place:
    """Return the place with its commands, and the oldest day that it names."""
    commands = (" ".join(command.split()) for command in COMMAND.findall(section))
    days = map(date.fromisoformat, DAY.findall(section))
    return Place(
        document=document,
        heading=section.partition("\n")[0].lstrip("# "),
        figures=tuple(find_figures(section, LIMITS.get(document, set()))),
        commands=tuple(dict.fromkeys(commands)),
        day=min(days, default=None),
    )


def find_figures(section: str, limits: set[str]) -> list[str]:
    """Return the measured figures of a section, and the heads of tables of some."""
    prose = re.sub(r"`[^`]*`", "", section)
    found = [figure for figure in FIGURE.findall(prose) if figure not in limits]
    return found + COLUMN.findall(section)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.figures", allow_abbrev=False)
    parser.add_argument("--since", type=date.fromisoformat, required=True, metavar="DAY")
    since = parser.parse_args().since
    status = 0
    for place in sorted(find_places(), key=lambda place: place.day or date.min):
        stale = place.day is None or place.day < since
        status |= stale
        print(f"{place.day}{' OLD' * stale}: {place.document}, {place.heading}")  # noqa: T201  a report
        print("".join(f"    {command}\n" for command in place.commands), end="")  # noqa: T201  as above
    return status


if __name__ == "__main__":
    sys.exit(main())
