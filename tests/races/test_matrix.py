"""..."""

import time

import pytest

from tests.races.table import read_table

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def test_alone(interleaving):
    for each in read_table():
        t = time.time()
        alone = interleaving.alone(each)
        print(
            f"{each.name:50} {alone.answer[:150]:40} {len(alone.statements)} {time.time() - t:.2f}"
        )
