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
from tests.breaking.drivers.driver import Driver
from tests.breaking.drivers.everyone import DRIVERS
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
# Others change what drivers may expect: codes end in five minutes, and a lease in half of one.
WITH_DRIVERS = {"kills"}
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
    return parser.parse_args()


def _write_result(table: str, options: Namespace) -> str:
    chosen = {"fault": options.fault or (), "driver": options.driver or ()}
    more = "".join(f" --{kind} {name}" for kind, names in chosen.items() for name in names)
    command = f"./dev break --minutes {options.minutes:g} --seed {options.seed}{more}"
    return f"# What `{command}` found\n\n{describe_machine()}.\n\n{table}\n"


def _run(folder: Path, options: Namespace) -> dict[str, Report]:
    """Break the service by one fault after the other, and return what each came to, by name."""
    names = options.fault or list(FAULTS)
    seconds = options.minutes * SECONDS_OF_A_MINUTE / len(names)
    reports: dict[str, Report] = {}
    for name in names:
        try:
            reports[name] = add_up([*_break_by(name, folder / name, seconds, options)])
        except UnavailableFaultError as error:
            print(f"{name} is left out. {error}")  # noqa: T201  what a reader has to know
    if not reports:
        sys.exit(2)
    return reports


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
                drivers=_choose_drivers(name, options),
            )
            yield break_service(grounds, plan, progress=show)


def _choose_drivers(fault: str, options: Namespace) -> Sequence[type[Driver]]:
    """Return who works beside the agents: nobody where clocks jump and releases meet."""
    names = options.driver or [driver.name for driver in DRIVERS]
    return [driver for driver in DRIVERS if fault in WITH_DRIVERS and driver.name in names]


if __name__ == "__main__":
    sys.exit(main())
