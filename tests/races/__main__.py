"""`python -m tests.races`: tries the whole matrix, and prints what was found."""

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from tqdm import tqdm

from benchmarks.found import format_page
from tests.environment import SETTINGS

SECONDS_BETWEEN_LINES = 2
HISTORY_SECONDS = 30
PROCESSES = 2
MATRIX = "tests/races/test_matrix.py::test_the_whole_matrix"


def main() -> int:
    """Return 0 where all pairs were tried and nothing was found, and 1 otherwise."""
    options = _read_options()
    os.environ.update(SETTINGS, DATABASE_URL="sqlite:///none")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django  # noqa: PLC0415  after the settings

    django.setup()
    from tests.races.report import Report  # noqa: PLC0415  needs the apps
    from tests.races.table import make_pairs, read_table  # noqa: PLC0415  as above

    rows = read_table()
    made = make_pairs(rows)
    pairs = sum(options.act in {"", *(each.name for each in pair)} for pair in made)
    if not pairs:
        sys.exit(f"There is no act with the name '{options.act}'.")
    status, results, log = _run(options, pairs)
    report = Report(rows=rows, pairs=pairs, results=results)
    print(report.table())  # noqa: T201  what was asked for
    if options.result:
        page = format_page("python -m tests.races", report.table())
        options.result.write_text(page, encoding="utf-8")
    if report.findings or status:
        print(log if status else "")  # noqa: T201  as above
        return 1
    return 0 if report.is_whole or options.minutes else 1


def _read_options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.races", description=__doc__, allow_abbrev=False)
    parser.add_argument("--minutes", type=float, help="begin no pair after; all pairs unless told")
    parser.add_argument("--seed", type=int, default=1, help="how the pairs are mixed")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="how many share the pairs")
    parser.add_argument("--act", default="", help="try only the pairs of the act with this name")
    parser.add_argument("--result", type=Path, metavar="FILE", help="where the table is kept")
    return parser.parse_args()


def _run(options: Namespace, pairs: int) -> tuple[int, list[dict[str, Any]], str]:
    """Return the status of the tests, what they wrote down, and their last lines."""
    with TemporaryDirectory(prefix="races-") as folder:
        tally, log = Path(folder, "tally.jsonl"), Path(folder, "log.txt")
        tally.touch()
        told = {
            "RACES_TALLY": str(tally),
            "RACES_PARTS": str(options.processes),
            "RACES_SEED": str(options.seed),
            "RACES_ACT": options.act,
            "RACES_HISTORY_SECONDS": str(HISTORY_SECONDS),
        }
        if options.minutes:
            told["RACES_UNTIL"] = str(time.time() + options.minutes * 60)
        tests = MATRIX if options.act else "tests/races"
        command = [
            *(sys.executable, "-m", "pytest", tests, "--database", "postgresql"),
            *("--quiet", "-n", str(options.processes), "-o", "faulthandler_timeout=0"),
        ]
        with log.open("w") as out:
            process = subprocess.Popen(command, env=os.environ | told, stdout=out, stderr=out)  # noqa: S603  our own command
            results = list(_follow(process, tally, pairs))
        return process.returncode, results, log.read_text(encoding="utf-8")[-4000:]


def _follow(process: subprocess.Popen[bytes], tally: Path, pairs: int) -> Iterator[dict[str, Any]]:
    """Yield the results as they are written down, and print each finding at once."""
    with (
        tally.open(encoding="utf-8") as lines,
        tqdm(total=pairs, desc="Pairs", mininterval=SECONDS_BETWEEN_LINES) as bar,
    ):
        is_running = True
        while is_running:
            time.sleep(SECONDS_BETWEEN_LINES)
            is_running = process.poll() is None
            for line in _whole_lines(lines):
                result = json.loads(line)
                bar.update("first" in result)
                for finding in result["findings"]:
                    bar.write(finding)
                yield result


def _whole_lines(lines: TextIO) -> Iterator[str]:
    """Yield what was written since, but not the beginning of a line that is being written."""
    begun = lines.tell()
    while line := lines.readline():
        if not line.endswith("\n"):
            lines.seek(begun)
            return
        begun = lines.tell()
        yield line


if __name__ == "__main__":
    sys.exit(main())
