"""`./dev prove`: everything that takes too long for `./dev test`, one part after another."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.environment import PROJECT_FOLDER

FOLDER = PROJECT_FOLDER / "var" / "prove"
PICTURES = FOLDER / "pictures"

PYTEST = ("pytest", "-rs", "--quiet")
PAGES, CLIENTS = "tests/browser", "tests/mcp_clients"
WRONG_FAULTS = ("tests/breaking/prove_faults.py", "--database=postgresql")
# With pictures, pages are looked at in every look. A test that lacks its programs fails.
OF_TESTS = {
    "SCREENSHOT_FOLDER": str(PICTURES),
    **dict.fromkeys(("REQUIRE_BROWSER", "REQUIRE_MCP_CLIENTS", "REQUIRE_POSTGRES"), "1"),
}


@dataclass(frozen=True)
class Part:
    """One command, and what its success shows."""

    name: str
    shows: str
    command: tuple[str, ...]

    @property
    def is_tests(self) -> bool:
        return self.command[0] == "pytest"

    @property
    def log(self) -> Path:
        return FOLDER / f"{self.name.replace(', ', '-').replace(' ', '-')}.log"


def parts(minutes: float, seed: int) -> list[Part]:
    """Return the parts in order; those without an end of their own get so many minutes."""
    timed = (f"--minutes={minutes:g}", f"--seed={seed}")
    slow = (*PYTEST, "--prove", "--numprocesses=auto", "--database")
    return [
        Part("npm", "MCP clients of npm are here", ("tests.mcp_clients.node_packages",)),
        Part("PyPI", "those of PyPI are here", ("tests.mcp_clients.python_packages",)),
        Part("Django", "newer versions of it are here", ("tests.hosts.environments",)),
        Part("slow tests, SQLite", "tests marked `prove` pass", (*slow, "sqlite")),
        Part("slow tests, PostgreSQL", "tests marked `prove` pass", (*slow, "postgresql")),
        Part("pages", "the other pages read well in every look", (*PYTEST, PAGES)),
        Part("clients", "official MCP suite and clients", (*PYTEST, CLIENTS)),
        Part("fuzz", "no input fails or leaks", ("tests.fuzzing", *timed)),
        Part("races", "two acts at once do what one after the other does", ("tests.races", *timed)),
        Part("guards", "without a guard its tests fail", ("tests.promises",)),
        Part("releases", "former databases keep what was promised", ("tests.releases",)),
        Part("restore", "a restore to a moment loses nothing before it", ("tests.rehearsal",)),
        Part("break", "nothing is lost, doubled or torn", ("tests.breaking", *timed)),
        Part("wrong builds", "`break` finds each of them out", ("tests.breaking.detection",)),
        Part("wrong faults", "`break` finds out what bears none", (*PYTEST, *WRONG_FAULTS)),
        Part("scale", "the measurements of scale run, small", ("benchmarks.scale", "--small")),
    ]


def run(part: Part) -> tuple[bool, float]:
    """Run it, with its output in a log of its own; return whether it passed, and its seconds."""
    began = time.monotonic()
    with part.log.open("w", encoding="utf-8") as output:
        done = subprocess.run(  # noqa: S603  our own commands
            [sys.executable, "-m", *part.command],
            cwd=PROJECT_FOLDER,
            env=os.environ | (OF_TESTS if part.is_tests else {}),
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.returncode == 0, time.monotonic() - began


def read_skipped(part: Part) -> Iterator[str]:
    """Yield the lines of pytest that say which tests were skipped, and why."""
    lines = part.log.read_text(encoding="utf-8").splitlines() if part.is_tests else []
    return (line for line in lines if line.startswith("SKIPPED"))


def prove(chosen: Sequence[Part]) -> int:
    """Run all parts, also after one that failed; return 0 if all passed, else 1."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    say(f"The output of each part is kept in {FOLDER.relative_to(PROJECT_FOLDER)}.")
    failed = 0
    for number, part in enumerate(chosen, start=1):
        say(f"{number} of {len(chosen)}: {part.name} ({part.shows}) ...")
        passed, seconds = run(part)
        failed += not passed
        say(f"    {'passed' if passed else 'FAILED'} after {seconds:.0f} s")
        for line in read_skipped(part):
            say(f"    {line}")
    say(f"{len(chosen) - failed} of {len(chosen)} parts passed.")
    return 1 if failed else 0


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  said to a person


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev prove", description=__doc__, allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=10, help="each timed part; 10 unless told")
    parser.add_argument("--seed", type=int, default=1, help="of all choices; 1 unless told")
    parser.add_argument("--only", action="append", metavar="NAME", help="a part; may be repeated")
    given = parser.parse_args()
    known = parts(given.minutes, given.seed)
    chosen = [each for each in known if not given.only or each.name in given.only]
    if len(chosen) < len(given.only or []):
        parser.error(f"The parts are: {', '.join(each.name for each in known)}.")
    return prove(chosen)


if __name__ == "__main__":
    sys.exit(main())
