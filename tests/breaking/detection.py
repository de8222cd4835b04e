"""Breaks builds that are wrong on purpose, and demands that each is found out in its column."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import tests.breaking.alone  # noqa: F401  before what needs it
from tests.breaking.builds import Build
from tests.breaking.drivers.driver import Driver
from tests.breaking.drivers.exports import Exports
from tests.breaking.drivers.imports import Imports
from tests.breaking.drivers.originals import Originals
from tests.breaking.drivers.packages import Packages
from tests.breaking.drivers.sign_ins import SignIns
from tests.breaking.drivers.signatures import Signatures
from tests.breaking.drivers.telling import Telling
from tests.breaking.grounds import Grounds, open_grounds
from tests.breaking.habits import Habits
from tests.breaking.run import Plan, break_service
from tests.environment import SETTINGS

CLIENTS = 6
# Enough for a broken build to go wrong several times, and a limit for a slow machine.
ROUNDS, LONGEST_SECONDS = 8, 30
DRIVEN_SECONDS = 20
# What has no answer so long behind the end has none.
LAST_ROUND_SECONDS = 10


class Case(NamedTuple):
    """A build, the columns in which it shows, and who makes it go wrong."""

    build: Build
    columns: Sequence[str]
    habits: Habits = Habits()
    drivers: Sequence[type[Driver]] = ()


STRAIGHT = Habits(cut_first=0, rejected=0)
CORRECTING = Habits(cut_first=0, rejected=0, corrected=0.7)
# The agents alone find these out.
OF_AGENTS = [
    Case(Build.RECEIPT_OUTSIDE, ["duplicates", "ghosts"], Habits(cut_first=0.6, doubled=1)),
    Case(Build.MAXIMUM_PLUS_ONE, ["repeats"], STRAIGHT),
    Case(
        Build.APPROVAL_NOT_READ,
        ["issues without approval"],
        Habits(cut_first=0, changed_after_approval=1, rejected=0),
    ),
    Case(
        Build.ANSWER_TAKEN_BACK,
        ["losses", "wrong answers", "diverging replays", "audit orphans"],
        Habits(cut_first=0, repeated=1),
    ),
    Case(Build.NUMBER_APART, ["gaps", "numbers out of order"], STRAIGHT),
    Case(Build.CHAIN_BLIND, ["audit breaks"], STRAIGHT),
    Case(Build.NEVER_ANSWERED, ["calls never answered"], STRAIGHT),
    Case(Build.NONCE_LOGGED, ["secrets in logs"], STRAIGHT),
    Case(Build.CREDIT_NOTE_SILENT, ["credit notes without their event"], CORRECTING),
    Case(Build.CREDIT_NOTE_TAKEN_BACK, ["credit notes lost"], CORRECTING),
    Case(Build.CORRECTION_UNBOUNDED, ["overdrawn invoices"], CORRECTING),
    Case(Build.SIGNATURE_NOT_ASKED, ["unsigned numbers"], STRAIGHT),
    Case(
        Build.SIGNATURE_OF_OTHER_FACTS,
        ["signatures that do not hold"],
        CORRECTING,
        drivers=[Signatures],
    ),
]
OF_DRIVERS = [
    Case(Build.TOKEN_TWICE, ["forked sign-ins"], drivers=[SignIns]),
    Case(Build.REUSE_ENDS_NOTHING, ["sign-ins after a second use"], drivers=[SignIns]),
    Case(Build.ROTATION_SILENT, ["sign-ins without their event"], drivers=[SignIns]),
    Case(Build.REFRESH_REFUSED, ["sign-ins lost"], drivers=[SignIns]),
    Case(Build.SENT_BY_TWO, ["told once more than promised"], drivers=[Telling]),
    Case(Build.MARKED_BEFORE, ["requests never told"], drivers=[Telling]),
    Case(Build.DETAILS_TOLD, ["secrets told"], drivers=[Telling]),
    Case(Build.SUBSCRIPTION_KEPT, ["subscriptions that are gone and kept"], drivers=[Telling]),
    Case(Build.ORIGINAL_ANEW, ["originals that changed"], drivers=[Originals]),
    Case(Build.DOWNLOAD_SILENT, ["downloads without their event"], drivers=[Originals]),
    Case(Build.IMPORT_BY_ROW, ["imports in part"], drivers=[Imports]),
    Case(Build.IMPORT_TAKEN_BACK, ["imports lost"], drivers=[Imports]),
    Case(Build.EXPORT_SHORT, ["whole exports that are wrong"], drivers=[Exports]),
    Case(Build.PACKAGE_TORN, ["packages that do not verify"], drivers=[Packages]),
    Case(Build.PACKAGE_SHORT, ["documents without evidence"], drivers=[Packages]),
]
CASES = [*OF_AGENTS, *OF_DRIVERS]


def count_found(grounds: Grounds, case: Case, *, seed: int = 0) -> dict[str, int]:
    """Break the build for some rounds; return how often its columns count it."""
    plan = Plan(
        seconds=DRIVEN_SECONDS if case.drivers else LONGEST_SECONDS,
        rounds=float("inf") if case.drivers else ROUNDS,
        seed=seed,
        servers=1,
        is_killing=False,
        habits=case.habits,
        build=case.build,
        drivers=case.drivers,
        last_round_seconds=LAST_ROUND_SECONDS,
    )
    counts = break_service(grounds, plan, progress=lambda _passed, _rounds: None).counts
    return {column: counts[column] for column in case.columns}


def main() -> int:
    """Return 0 where every build was found out, and 1 otherwise."""
    options = _read_options()
    os.environ.update(SETTINGS)
    missed = 0
    with (
        TemporaryDirectory(prefix="breaking-") as folder,
        open_grounds(Path(folder), clients=CLIENTS) as grounds,
    ):
        print(f"| {'build':<40} | {'column':<36} | {'cases':>5} |", flush=True)  # noqa: T201  asked for
        print(f"| {'-' * 40} | {'-' * 36} | {'-' * 4}: |", flush=True)  # noqa: T201  as above
        for case in CASES:
            if options.build and case.build.name not in options.build:
                continue
            for column, found in count_found(grounds, case, seed=options.seed).items():
                missed += not found
                print(f"| {case.build:<40} | {column:<36} | {found:>5} |", flush=True)  # noqa: T201  as above
    return int(missed > 0)


def _read_options() -> Namespace:
    parser = ArgumentParser(
        prog="python -m tests.breaking.detection", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--seed", type=int, default=0, help="what the choices begin with")
    names = [build.name for build in Build if build != Build.SOUND]
    told = "which, if not all; may be said more than once"
    parser.add_argument("--build", action="append", choices=names, default=[], help=told)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
