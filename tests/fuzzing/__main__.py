"""The long run: every fuzzer again and again, each round with another seed, until time is over."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.found import format_page
from tests.environment import DATABASES

# A round takes a minute or two, and is not begun when less than this is left.
EFFORT = 3
LEAST_SECONDS = 30
SECONDS_OF_A_MINUTE = 60


@dataclass
class Run:
    """What came of all rounds so far: how many on each database, and what each fuzzer sent."""

    first_seed: int
    status: int = 0
    rounds: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)

    def table(self) -> str:
        rows = [f"| {name} | {number:,} |" for name, number in sorted(self.sent.items())]
        found = "the last one found something" if self.status else "nothing was found"
        databases = ", ".join(f"{number} on {name}" for name, number in self.rounds.items())
        last_seed = self.first_seed + self.rounds.total() - 1
        head = f"Seeds {self.first_seed} to {last_seed}, {databases}: {found}."
        return "\n".join([head, "", "| Fuzzer | Sent |", "|---|---:|", *rows])


def fuzz(*, minutes: float, first_seed: int, arguments: Sequence[str]) -> Run:
    """Try round after round, until one finds something or time is over."""
    until = time.monotonic() + minutes * SECONDS_OF_A_MINUTE
    run = Run(first_seed)
    for seed, database in zip(count(first_seed), cycle(DATABASES), strict=False):
        run.status, sent = run_round(seed, database, arguments)
        run.rounds[database] += 1
        run.sent.update(sent)
        told = ", ".join(f"{name} {number:,}" for name, number in sorted(run.sent.items()))
        print(f"After seed {seed} on {database}: {told}", flush=True)  # noqa: T201  said to a person
        if run.status or time.monotonic() > until - LEAST_SECONDS:
            return run
    raise AssertionError("seeds do not end")


def run_round(seed: int, database: str, arguments: Sequence[str]) -> tuple[int, Counter[str]]:
    """Run all fuzzers once with the seed; return pytest's status and what was sent."""
    with TemporaryDirectory(prefix="fuzz-") as folder:
        tally = Path(folder) / "tally.json"
        environment = {"FUZZ_SEED": str(seed), "FUZZ_EFFORT": str(EFFORT), "FUZZ_TALLY": str(tally)}
        command = [
            *(sys.executable, "-m", "pytest", "tests/fuzzing", "--database", database),
            *(f"--hypothesis-seed={seed}", "--quiet", "--show-capture=no", *arguments),
        ]
        done = subprocess.run(command, env=os.environ | environment, check=False)  # noqa: S603  our own command
        # Where there is no PostgreSQL nothing was sent to it.
        sent = json.loads(tally.read_text(encoding="utf-8")) if tally.exists() else {}
        return done.returncode, Counter(sent)


def main() -> int:
    """Return the exit status of the round that found something, else 0."""
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__, allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=10, help="how long; 10 unless told")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; 1 unless told")
    parser.add_argument("--result", type=Path, metavar="FILE", help="where the table is kept")
    given, arguments = parser.parse_known_args()
    run = fuzz(minutes=given.minutes, first_seed=given.seed, arguments=arguments)
    print(f"\n{run.table()}", flush=True)  # noqa: T201  what was asked for
    if given.result:
        given.result.write_text(format_page("./dev fuzz", run.table()), encoding="utf-8")
    return run.status


if __name__ == "__main__":
    sys.exit(main())
