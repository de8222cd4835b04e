"""Pairs of acts at once: what is answered and stored is that of one order or the other.

Without more, a few pairs are tried; `python -m tests.races` tries all of the matrix by these tests.
"""

import json
import os
import time
from pathlib import Path
from random import Random

import pytest

from tests.races.answers import is_refusal
from tests.races.interleaving import Interleaving
from tests.races.left_out import ASKING_IN_VAIN
from tests.races.table import Pair, make_pairs, read_table
from tests.races.trying import try_pair, write

pytestmark = [
    pytest.mark.postgresql,  # SQLite has one writer
    pytest.mark.django_db(transaction=True),
]

# What `python -m tests.races` says to the processes that share the matrix: where results are kept,
# until when another pair is begun, how many share, how the pairs are mixed, and of which act.
TALLY = os.environ.get("RACES_TALLY", "")
UNTIL = float(os.environ.get("RACES_UNTIL", "inf"))
PARTS = int(os.environ.get("RACES_PARTS", "1"))
SEED = int(os.environ.get("RACES_SEED", "1"))
ACT = os.environ.get("RACES_ACT", "")


def mix_pairs() -> list[Pair]:
    """Return all pairs, or those of one act, in an order that the seed decides."""
    pairs = [each for each in make_pairs(read_table()) if ACT in {"", *(one.name for one in each)}]
    Random(SEED).shuffle(pairs)  # noqa: S311  no secret
    return pairs


# Of each kind one: the pairs whose order decides most.
CHOSEN = (
    ("an agent creates a draft", "the owner deactivates the person"),
    ("an agent updates the draft", "the person issues the draft by hand"),
    ("an agent issues the approved draft", "the person withdraws what was approved"),
    ("an agent issues the approved draft", "the owner stops all agents"),
    ("an agent issues the approved draft", "the owner hides a module of tools"),
    ("an agent issues the approved draft", "the owner takes the person's permissions away"),
    ("the person approves what is asked", "the person rejects what is asked"),
    ("the owner revokes the other connection", "the person approves what is asked"),
    ("the owner demands signatures", "the person approves what is asked"),
    ("the person issues another credit note", "the person issues the credit note"),
    ("the owner changes how numbers are written", "the person issues the draft by hand"),
    ("the owner changes how numbers are written", "the person issues the credit note"),
    ("the owner makes a connection", "the owner stops all agents"),
    ("an operator hands the company over", "the person asks the owner for a client"),
    ("the owner deactivates the person", "the owner makes a connection"),
    ("the owner deactivates the person", "the owner hands the company over"),
    ("the owner changes the person's hours", "the owner gives the person a manager"),
    ("the owner changes the person's address", "the owner creates a person"),
    ("the owner replaces the tax rate", "the owner replaces the tax rate"),
    ("the owner replaces the tax rate", "the person issues the draft by hand"),
    ("the owner changes the company", "the person issues the draft by hand"),
    ("an agent issues the approved draft", "the owner replaces the tax rate"),
    ("the owner renames the connection", "the owner stops all agents"),
    ("the person uses a one-time code", "the person uses a one-time code"),
    ("the person adds a passkey by link", "the person adds a passkey by link"),
    ("the person adds a passkey", "the person adds a passkey"),
    ("the person removes a passkey", "the person removes a passkey"),
    ("the person uploads another file", "the person uploads another file"),
    ("a client exchanges its code", "a client exchanges its code"),
    ("a client exchanges its code", "the owner turns browser sign-in off"),
    ("a client refreshes its tokens", "a client refreshes its tokens"),
    ("a client refreshes its tokens", "a client revokes its token"),
    ("a client refreshes its tokens", "a thief refreshes by a former token"),
)


@pytest.mark.requirement(
    "error.stale_update", "issue.numbers_and_freezes", "revocation.stops_calls", "sign_in.reuse"
)
def test_whatever_comes_between_its_statements_one_act_follows_the_other(
    interleaving: Interleaving,
) -> None:
    """And nothing is written any more by what the other act has ended."""
    table = {row.name: row for row in read_table()}
    assert {*CHOSEN} <= {(one.name, other.name) for one, other in make_pairs(read_table())}
    tried = [try_pair(interleaving, (table[one], table[other])) for one, other in CHOSEN]
    assert [finding for each in tried for finding in each.findings] == []
    assert all(each.meetings for each in tried)


@pytest.mark.skipif(not TALLY, reason="the whole matrix has a command of its own")
@pytest.mark.parametrize("part", range(PARTS))
def test_the_whole_matrix(interleaving: Interleaving, part: int) -> None:
    with Path(TALLY).open("a", encoding="utf-8") as tally:
        for pair in mix_pairs()[part::PARTS]:
            if time.time() < UNTIL:
                tally.write(json.dumps(write(try_pair(interleaving, pair))) + "\n")
                tally.flush()
    # No act has spoiled the stage for those after it.
    for row in read_table():
        assert is_refusal(interleaving.run(row).answer) == (row.name in ASKING_IN_VAIN), row
