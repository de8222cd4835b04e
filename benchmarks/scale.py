"""Measures what docs/scale.md says, one thing after another, and writes a page of results of each.

    python -m benchmarks.scale [--small] [--only audit] [--size audit=20000000]

takes some two hours; `--small` tries each in some ten minutes in all. A page is written of what was
measured in full: not if it failed, or had another size. A measurement that misses its goal says so,
and is counted; it ends with 1 if one fails.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.goals import MISSED, MISSED_CODE

RESULTS = Path(__file__).with_name("results")
# What is measured, the option that says how much, and how much it is in full and for a try.
MEASUREMENTS = {
    "processes": ("--seconds", 10, 2),
    "notifications": ("--requests", 500, 30),
    "connections": ("--connections", 10_000, 300),
    "exports": ("--documents", 100_000, 500),
    "lists": ("--documents", 1_000_000, 10_000),
    "home": ("--documents", 1_000_000, 10_000),
    "activity": ("--events", 1_000_000, 10_000),
    "audit": ("--events", 2_000_000, 20_000),
}


def main() -> int:
    arguments = _read_options()
    names = arguments.only or list(MEASUREMENTS)
    failed, missed = [], 0
    for name in names:
        option, full, small = MEASUREMENTS[name]
        size = arguments.size.get(name, small if arguments.small else full)
        command = f"python -m benchmarks.{name} {option} {size}"
        _say(f"Measuring: {command}")
        begun = perf_counter()
        ran = subprocess.run(  # noqa: S603  our own command
            [sys.executable, *command.split()[1:]], stdout=subprocess.PIPE, text=True, check=False
        )
        minutes = (perf_counter() - begun) / 60
        _say(f"{ran.stdout}\n{minutes:.1f} minutes, exit code {ran.returncode}")
        missed += ran.stdout.count(MISSED)
        if ran.returncode not in {0, MISSED_CODE}:
            failed.append(name)
        elif int(size) == full:
            page = f"# What `{command}` found\n\n{ran.stdout}"
            (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")
    ended = f"{len(names)} measurements, failed: {len(failed)}, goals missed: {missed}."
    _say(f"{ended} Failed: {', '.join(failed)}." if failed else ended)
    return int(bool(failed))


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.scale", allow_abbrev=False)
    parser.add_argument("--small", action="store_true", help="sizes for a try")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, metavar="NAME")
    parser.add_argument("--size", nargs="+", default=[], metavar="NAME=NUMBER")
    arguments = parser.parse_args()
    arguments.size = dict(each.split("=", 1) for each in arguments.size)
    if unknown := arguments.size.keys() - MEASUREMENTS.keys():
        parser.error(f"there is no measurement {', '.join(sorted(unknown))}")
    return arguments


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  said to a person


if __name__ == "__main__":
    sys.exit(main())
