"""`./dev prove`: everything that takes too long for `./dev test`, one part after another."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from config.environment import PROJECT_FOLDER

FOLDER = PROJECT_FOLDER / "var" / "prove"
PICTURES = FOLDER / "pictures"

FAULTS = ("pytest", "tests/breaking/prove_faults.py", "--database", "postgresql")


@dataclass(frozen=True)
class Part:
    """One command, and what its success shows."""

    name: str
    shows: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def parts(minutes: float, seed: int) -> list[Part]:
    """Return the parts in order; those without an end of their own get so many minutes."""
    timed = (f"--minutes={minutes:g}", f"--seed={seed}")
    slow = ("pytest", "--prove", "--quiet", "--numprocesses=auto", "--database")
    looked_at = {"SCREENSHOT_FOLDER": str(PICTURES)}
    return [
        Part("slow tests, SQLite", "tests marked `prove` pass", (*slow, "sqlite")),
        Part("slow tests, PostgreSQL", "tests marked `prove` pass", (*slow, "postgresql")),
        Part("pages", "pages read well in every look", ("pytest", "tests/browser"), looked_at),
        Part("clients", "official MCP suite and clients", ("pytest", "tests/mcp_clients")),
        Part("fuzz", "no input fails or leaks", ("tests.fuzzing", *timed)),
        Part("races", "two acts at once do what one after the other does", ("tests.races", *timed)),
        Part("guards", "without a guard its tests fail", ("tests.promises",)),
        Part("releases", "former databases keep what was promised", ("tests.releases",)),
        Part("restore", "a restore to a moment loses nothing before it", ("tests.rehearsal",)),
        Part("break", "nothing is lost, doubled or torn", ("tests.breaking", *timed)),
        Part("harness", "wrong builds are found out", ("tests.breaking.detection",)),
        Part("faults", "what bears no fault is found out", FAULTS),
        Part("scale", "the measurements of scale run, small", ("benchmarks.scale", "--small")),
    ]


def run(part: Part) -> tuple[bool, float]:
    """Run it, with its output in a log of its own; return whether it passed, and its seconds."""
    log = FOLDER / f"{part.name.replace(', ', '-').replace(' ', '-')}.log"
    began = time.monotonic()
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(  # noqa: S603  our own commands
            [sys.executable, "-m", *part.command],
            cwd=PROJECT_FOLDER,
            env=os.environ | part.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.returncode == 0, time.monotonic() - began


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
