"""`./dev break`: breaks the service for some minutes and prints what was found."""

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from tqdm import tqdm

import tests.breaking.alone  # noqa: F401  before what needs it
from benchmarks.found import format_page
from tests.breaking.drivers.driver import Driver
from tests.breaking.drivers.everyone import DRIVERS
from tests.breaking.faults import FAULTS
from tests.breaking.faults.fault import Fault, UnavailableFaultError
from tests.breaking.grounds import open_grounds
from tests.breaking.report import Report
from tests.breaking.run import Plan, break_service
from tests.breaking.sums import add_up, compare
from tests.environment import SETTINGS

CLIENTS = 12
SECONDS_OF_A_MINUTE = 60
SECONDS_BETWEEN_LINES = 2
SHAPE = "{desc}: {percentage:3.0f} % |{bar}| {n:.0f} of {total:.0f} s{postfix}"


def main() -> int:
    """Return 0 where all was tried and nothing found, and 1 otherwise, with cases and evidence."""
    options = _read_options()
    # What a developer's shell says must reach no server.
    os.environ.update(SETTINGS)
    folder = Path(mkdtemp(prefix="breaking-"))
    folder.chmod(0o711)  # the account of PostgreSQL passes through it
    reports, left_out = _run(folder, options)
    if not reports:
        shutil.rmtree(folder)
        return 1
    report = add_up(list(reports.values()))
    tables = [report.table(), compare(reports)] if len(reports) > 1 else [report.table()]
    told = "\n\n".join([*tables, *left_out])
    print(told)  # noqa: T201  what was asked for
    if options.result:
        options.result.write_text(format_page("./dev break", told), encoding="utf-8")
    if all(each.is_clean for each in reports.values()):
        shutil.rmtree(folder)
        return 1 if left_out else 0
    print(f"\n{report.cases()}\n\nThe logs are in {folder}.")  # noqa: T201  as above
    return 1


def _read_options() -> Namespace:
    parser = ArgumentParser(prog="./dev break", description=__doc__, allow_abbrev=False)
    parser.add_argument("--minutes", type=float, required=True, help="how long it is disturbed")
    parser.add_argument("--seed", type=int, default=0, help="what the choices begin with")
    names = [driver.name for driver in DRIVERS]
    told = "who works beside the agents, if not all do; may be said more than once"
    parser.add_argument("--driver", action="append", choices=names, default=[], help=told)
    parser.add_argument(
        "--fault",
        choices=FAULTS,
        action="append",
        help="what goes wrong besides the kills; several share the time, and without any all do",
    )
    parser.add_argument("--result", type=Path, metavar="FILE", help="where the table is kept")
    options = parser.parse_args()
    for name in options.fault or ():
        if unable := FAULTS[name].without & {*options.driver}:
            parser.error(f"Under {name} there is no driver {' or '.join(sorted(unable))}.")
    return options


def _run(folder: Path, options: Namespace) -> tuple[dict[str, Report], list[str]]:
    """Break the service by one fault after the other.

    Returns what each came to, by name, and a sentence for each that this machine cannot have.
    """
    names = options.fault or list(FAULTS)
    seconds = options.minutes * SECONDS_OF_A_MINUTE / len(names)
    reports: dict[str, Report] = {}
    left_out = []
    for name in names:
        try:
            reports[name] = add_up([*_break_by(name, folder / name, seconds, options)])
        except UnavailableFaultError as error:
            left_out.append(f"The fault {name} was left out. {error}")
            print(left_out[-1])  # noqa: T201  what a reader has to know
    return reports, left_out


def _break_by(name: str, folder: Path, seconds: float, options: Namespace) -> Iterator[Report]:
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

            plan = Plan(
                seconds=seconds / passes,
                seed=options.seed + turn,
                drivers=_choose_drivers(fault, options),
            )
            yield break_service(grounds, plan, progress=show)


def _choose_drivers(fault: Fault, options: Namespace) -> Sequence[type[Driver]]:
    """Return who works beside the agents: all that were named, or all that can under the fault."""
    names = {*(options.driver or (driver.name for driver in DRIVERS))} - fault.without
    return [driver for driver in DRIVERS if driver.name in names]


if __name__ == "__main__":
    sys.exit(main())
