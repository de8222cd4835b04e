"""Pairs of acts at once: what is answered and stored is that of one order or the other.

Without more, a few pairs are tried; `python -m tests.races` tries all of the matrix by these tests.
"""

import json
import os
import time
from pathlib import Path
from random import Random

import pytest

from tests.races.interleaving import Interleaving
from tests.races.table import Pair, make_pairs, read_table
from tests.races.trying import try_pair, write

pytestmark = [
    pytest.mark.postgresql,  # SQLite has one writer
    pytest.mark.django_db(transaction=True),
]

# What `python -m tests.races` says to the processes that share the matrix: where results are kept,
# until when another pair is begun, how many share, and how the pairs are mixed.
TALLY = os.environ.get("RACES_TALLY", "")
UNTIL = float(os.environ.get("RACES_UNTIL", "inf"))
PARTS = int(os.environ.get("RACES_PARTS", "1"))
SEED = int(os.environ.get("RACES_SEED", "1"))


def mix_pairs() -> list[Pair]:
    """Return all pairs in an order that the seed decides."""
    pairs = list(make_pairs(read_table()))
    Random(SEED).shuffle(pairs)  # noqa: S311  no secret
    return pairs


@pytest.mark.skipif(not TALLY, reason="the whole matrix has a command of its own")
@pytest.mark.parametrize("part", range(PARTS))
def test_the_whole_matrix(interleaving: Interleaving, part: int) -> None:
    with Path(TALLY).open("a", encoding="utf-8") as tally:
        for pair in mix_pairs()[part::PARTS]:
            if time.time() < UNTIL:
                tally.write(json.dumps(write(try_pair(interleaving, pair))) + "\n")
                tally.flush()
