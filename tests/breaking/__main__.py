"""`./dev break`: breaks the service for some minutes and prints what was found."""

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

from tqdm import tqdm

import tests.breaking.alone  # noqa: F401  before what needs it
from tests.breaking.faults import FAULTS
from tests.breaking.faults.fault import UnavailableFaultError
from tests.breaking.grounds import open_grounds
from tests.breaking.machine import describe_machine
from tests.breaking.report import Report
from tests.breaking.run import Plan, break_service
from tests.breaking.sums import add_up, compare
from tests.environment import SETTINGS

CLIENTS = 12
SECONDS_OF_A_MINUTE = 60
SECONDS_BETWEEN_LINES = 2
SHAPE = "{desc}: {percentage:3.0f} % |{bar}| {n:.0f} of {total:.0f} s{postfix}"


def main() -> int:
    """Return 0 where nothing was found, and 1 with the cases and the evidence otherwise."""
    options = _read_options()
    # What a developer's shell says must reach no server.
    os.environ.update(SETTINGS)
    folder = Path(mkdtemp(prefix="breaking-"))
    folder.chmod(0o711)  # the account of PostgreSQL passes through it
    reports = _run(folder, options)
    report = add_up(list(reports.values()))
    table = f"{report.table()}\n\n{compare(reports)}" if len(reports) > 1 else report.table()
    print(table)  # noqa: T201  what was asked for
    if options.result:
        options.result.write_text(_write_result(table, options), encoding="utf-8")
    if all(each.is_clean for each in reports.values()):
        shutil.rmtree(folder)
        return 0
    print(f"\n{report.cases()}\n\nThe logs are in {folder}.")  # noqa: T201  as above
    return 1


def _read_options() -> Namespace:
    parser = ArgumentParser(prog="./dev break", description=__doc__)
    parser.add_argument("--minutes", type=float, required=True, help="how long it is disturbed")
    parser.add_argument("--seed", type=int, default=0, help="what the choices begin with")
    parser.add_argument(
        "--fault",
        choices=FAULTS,
        action="append",
        help="what goes wrong besides the kills; several share the time, and without any all do",
    )
    parser.add_argument("--result", type=Path, metavar="FILE", help="where the table is kept")
    return parser.parse_args()


def _write_result(table: str, options: Namespace) -> str:
    faults = "".join(f" --fault {fault}" for fault in options.fault or ())
    command = f"./dev break --minutes {options.minutes:g} --seed {options.seed}{faults}"
    return f"# What `{command}` found\n\n{describe_machine()}.\n\n{table}\n"


def _run(folder: Path, options: Namespace) -> dict[str, Report]:
    """Break the service by one fault after the other, and return what each came to, by name."""
    names = options.fault or list(FAULTS)
    seconds = options.minutes * SECONDS_OF_A_MINUTE / len(names)
    reports: dict[str, Report] = {}
    for name in names:
        try:
            reports[name] = add_up([*_break_by(name, folder / name, seconds, options.seed)])
        except UnavailableFaultError as error:
            print(f"{name} is left out. {error}")  # noqa: T201  what a reader has to know
    if not reports:
        sys.exit(2)
    return reports


def _break_by(name: str, folder: Path, seconds: float, seed: int) -> Iterator[Report]:
    """Yield a report of each company that one fault is tried on, for so many seconds in all."""
    folder.mkdir()
    fault = FAULTS[name]()
    with (
        tqdm(total=seconds, desc=name, bar_format=SHAPE, mininterval=SECONDS_BETWEEN_LINES) as bar,
        open_grounds(folder, clients=CLIENTS, fault=fault) as grounds,
    ):
        passes = max(1, round(seconds / fault.longest))
        for turn in range(passes):
            begun = seconds * turn / passes

            def show(passed: float, rounds: int, begun: float = begun) -> None:
                bar.set_postfix(rounds=rounds, refresh=False)
                bar.update(min(begun + passed, seconds) - bar.n)

            plan = Plan(seconds=seconds / passes, seed=seed + turn)
            yield break_service(grounds, plan, progress=show)


if __name__ == "__main__":
    sys.exit(main())
