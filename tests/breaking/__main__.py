"""`./dev break`: breaks the service for some minutes and prints what was found."""

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import mkdtemp

from tqdm import tqdm

from tests.breaking.drivers.everyone import DRIVERS
from tests.breaking.grounds import open_grounds
from tests.breaking.machine import describe_machine
from tests.breaking.report import Report
from tests.breaking.run import Plan, break_service
from tests.environment import SETTINGS

CLIENTS = 12
SECONDS_OF_A_MINUTE = 60
SECONDS_BETWEEN_LINES = 2


def main() -> int:
    """Return 0 where nothing was found, and 1 with the cases and the evidence otherwise."""
    options = _read_options()
    # What a developer's shell says must reach no server.
    os.environ.update(SETTINGS)
    folder = Path(mkdtemp(prefix="breaking-"))
    report = _run(folder, options)
    print(report.table())  # noqa: T201  what was asked for
    if options.result:
        options.result.write_text(_write_result(report, options), encoding="utf-8")
    if report.is_clean:
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
    parser.add_argument("--result", type=Path, metavar="FILE", help="where the table is kept")
    return parser.parse_args()


def _write_result(report: Report, options: Namespace) -> str:
    drivers = "".join(f" --driver {name}" for name in options.driver)
    command = f"./dev break --minutes {options.minutes:g} --seed {options.seed}{drivers}"
    return f"# What `{command}` found\n\n{describe_machine()}.\n\n{report.table()}\n"


def _run(folder: Path, options: Namespace) -> Report:
    seconds = options.minutes * SECONDS_OF_A_MINUTE
    shape = "{percentage:3.0f} % |{bar}| {n:.0f} of {total:.0f} s{postfix}"
    with (
        tqdm(total=seconds, bar_format=shape, mininterval=SECONDS_BETWEEN_LINES) as bar,
        open_grounds(folder, clients=CLIENTS) as grounds,
    ):

        def show(passed: float, rounds: int) -> None:
            bar.set_postfix(rounds=rounds, refresh=False)
            bar.update(min(passed, seconds) - bar.n)

        names = options.driver or [driver.name for driver in DRIVERS]
        drivers = [driver for driver in DRIVERS if driver.name in names]
        plan = Plan(seconds=seconds, seed=options.seed, drivers=drivers)
        return break_service(grounds, plan, progress=show)


if __name__ == "__main__":
    sys.exit(main())
