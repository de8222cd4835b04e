"""The long run: every fuzzer again and again, each round with another seed, until time is over."""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.environment import DATABASES

# A round takes a minute or two, and is not begun when less than this is left.
EFFORT = 3
LEAST_SECONDS = 30


def fuzz(*, minutes: float, first_seed: int, arguments: Sequence[str]) -> int:
    """Return the exit status: that of the first round which found something, else 0."""
    until = time.monotonic() + minutes * 60
    total: Counter[str] = Counter()
    for seed, database in zip(count(first_seed), cycle(DATABASES), strict=False):
        status, sent = run_round(seed, database, arguments)
        total.update(sent)
        told = ", ".join(f"{name} {number:,}" for name, number in sorted(total.items()))
        print(f"After seed {seed} on {database}: {told}", flush=True)  # noqa: T201  said to a person
        if status or time.monotonic() > until - LEAST_SECONDS:
            print_table(total, seeds=(first_seed, seed), is_clean=not status)
            return status
    raise AssertionError("seeds do not end")


def print_table(total: Counter[str], *, seeds: tuple[int, int], is_clean: bool) -> None:
    """Print what each fuzzer sent in all rounds, as docs/security.md has it."""
    rows = [f"| {name} | {number:,} |" for name, number in sorted(total.items())]
    found = "nothing was found" if is_clean else "the last one found what is above"
    head = f"Seeds {seeds[0]} to {seeds[1]}: {found}."
    print("\n".join(["", head, "", "| Fuzzer | Sent |", "|---|---|", *rows]), flush=True)  # noqa: T201  as above


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
    parser = argparse.ArgumentParser(prog="./dev fuzz", allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=10, help="how long; 10 unless told")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; 1 unless told")
    given, arguments = parser.parse_known_args()
    return fuzz(minutes=given.minutes, first_seed=given.seed, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
