"""`./dev guards`: removes each guard of a promise in a copy, and demands that its tests fail."""

import argparse
import fnmatch
import shutil
import sys
import time
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

from benchmarks.found import format_page
from tests.promises.documents import PAGE, write_page, write_table
from tests.promises.grounds import Copy, open_databases
from tests.promises.rows import Guard, read_guards, read_themes
from tests.promises.trials import Trials
from tests.promises.verdicts import Verdict

JOBS = 2


def main() -> int:
    """Return 0 if every guard is needed, and 1 otherwise."""
    options = _read_options()
    if options.write:
        PAGE.write_text(write_page(read_themes()), encoding="utf-8")
        return 0
    guards = [each for each in read_guards() if fnmatch.fnmatch(each.name, options.only)]
    if not guards:
        _say(f"No guard is named {options.only}.")
        return 1
    folder = Path(mkdtemp(prefix="promises-"))
    begun = time.monotonic()
    verdicts = _try_all(folder, guards, jobs=options.jobs)
    faults = [each for each in verdicts if each.fault]
    for each in faults:
        _say(f"NOT SHOWN {each.guard.name}: {each.fault}")
    table = write_table(verdicts, seconds=time.monotonic() - begun)
    _say(table)
    if options.result:
        options.result.write_text(format_page("./dev guards", table), encoding="utf-8")
    if faults:
        _say(f"What pytest wrote is in {folder}.")
        return 1
    shutil.rmtree(folder)
    return 0


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev guards", description=__doc__, allow_abbrev=False)
    parser.add_argument("--only", default="*", metavar="NAME", help="such as frozen or audit*")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"at a time; {JOBS} unless told")
    parser.add_argument("--result", type=Path, metavar="FILE", help="where the table is kept")
    parser.add_argument("--write", action="store_true", help=f"only write {PAGE.name}")
    return parser.parse_args()


def _try_all(folder: Path, guards: list[Guard], *, jobs: int) -> list[Verdict]:
    with open_databases(folder) as databases:
        _say(f"{len(guards)} guards. Copying the project, and migrating databases.")
        copies = [Copy(folder / f"copy_{number}") for number in range(1, jobs + 1)]
        databases.migrate(copies[0].project)
        with closing(Trials(copies, databases)) as trials:
            return _try_each(guards, trials)


def _try_each(guards: list[Guard], trials: Trials) -> list[Verdict]:
    _say("Running their tests with all guards in place.")
    not_green = trials.find_not_green(guards)
    for database, test in not_green:
        _say(f"NOT GREEN on {database}, with all guards: {test}")
    verdicts = [_spoiled(each) for each in guards if _is_spoiled(each, not_green)]
    sound = [each for each in guards if not _is_spoiled(each, not_green)]
    for verdict in trials.remove(sound):
        verdicts.append(verdict)
        place = f"{len(verdicts):>4} of {len(guards)}  {verdict.seconds:5.1f} s"
        _say(f"{place}  {verdict.guard.name}: {verdict.fault or 'red'}")
    return verdicts


def _is_spoiled(guard: Guard, not_green: Collection[tuple[str, str]]) -> bool:
    return any((guard.database, test) in not_green for test in guard.tests)


def _spoiled(guard: Guard) -> Verdict:
    return Verdict(guard=guard, fault="its tests do not pass with the guard either")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  said to a person


if __name__ == "__main__":
    sys.exit(main())
