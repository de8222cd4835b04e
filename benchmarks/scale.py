"""Measures what docs/scale.md says, one thing after another, and writes results/scale.md.

    python -m benchmarks.scale [--small] [--only audit]

takes some two hours with the sizes of the document, and some ten minutes with `--small`, which
writes nothing. It ends with 1 if a measurement fails or misses its goal.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

RESULTS = Path(__file__).with_name("results") / "scale.md"
# The arguments of each measurement: those of the document, and those of a try.
MEASUREMENTS: dict[str, tuple[str, str]] = {
    "processes": ("--seconds 10", "--seconds 2 --processes 1 2"),
    "notifications": ("--requests 500", "--requests 30"),
    "connections": ("--connections 10000", "--connections 300"),
    "exports": ("--documents 100000", "--documents 500"),
    "lists": ("--documents 1000000", "--documents 10000"),
    "home": ("--documents 1000000", "--documents 10000"),
    "activity": ("--events 1000000", "--events 10000"),
    "audit": ("--events 20000000", "--events 20000"),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.scale", allow_abbrev=False)
    parser.add_argument("--small", action="store_true", help="sizes for a try")
    parser.add_argument("--only", nargs="*", default=list(MEASUREMENTS), choices=MEASUREMENTS)
    arguments = parser.parse_args()
    failed, told = [], ["# Scale", ""]
    for name in arguments.only:
        command = f"python -m benchmarks.{name} {MEASUREMENTS[name][arguments.small]}"
        print(f"Measuring: {command}", flush=True)  # noqa: T201  said to a person
        begun = perf_counter()
        ran = subprocess.run(  # noqa: S603  our own command
            [sys.executable, *command.split()[1:]], stdout=subprocess.PIPE, text=True, check=False
        )
        minutes = (perf_counter() - begun) / 60
        print(f"{ran.stdout}\n{minutes:.1f} minutes, exit code {ran.returncode}", flush=True)  # noqa: T201  as above
        failed += [name] * bool(ran.returncode)
        told += [f"## {name.capitalize()}", "", f"`{command}`, {minutes:.0f} minutes:", ""]
        told += [ran.stdout.strip(), ""]
    if not arguments.small and arguments.only == list(MEASUREMENTS):
        RESULTS.write_text("\n".join(told), encoding="utf-8")
    print(f"Failed: {', '.join(failed)}." if failed else "All were measured.")  # noqa: T201  as above
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
