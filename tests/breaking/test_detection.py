"""Every column of the report has a build that is wrong on purpose, and every build its place."""

from pathlib import Path

import pytest

from tests.breaking.broken_builds import CHANGES
from tests.breaking.builds import Build
from tests.breaking.columns import COLUMNS
from tests.breaking.detection import CASES
from tests.breaking.drivers import (
    exports,
    imports,
    originals,
    packages,
    sign_in_columns,
    telling_columns,
)

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

NOWHERE = Path()
OF_DRIVERS = {
    **sign_in_columns.find([], []),
    **telling_columns.find(
        [], telling_columns.Rows(approvals=[], notified=[], deliveries=[], subscribed=[]), set()
    ),
    **originals.find([], originals.Rows([], [])),
    **imports.find([], imports.Rows([], [])),
    **exports.find([], exports.Rows([], [], []), NOWHERE),
    **packages.find([], [], NOWHERE),
    "signatures that do not hold": [],
}


def test_every_column_has_a_build_in_which_it_shows():
    shown = {column for case in CASES for column in case.columns}

    assert shown == {*COLUMNS, *OF_DRIVERS, "secrets in logs"}


def test_every_wrong_build_changes_the_product_and_is_tried():
    wrong = set(Build) - {Build.SOUND}

    assert {*CHANGES} == wrong == {case.build for case in CASES}
    # A place that has moved would be a build that is right.
    assert all(hasattr(module, name) for each in CHANGES.values() for module, name, _ in each)
