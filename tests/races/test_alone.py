"""Each act by itself does what it is there for, and all of them do all that is ever written."""

import pytest

from tests.races.answers import is_refusal
from tests.races.interleaving import Interleaving
from tests.races.left_out import ASKING_IN_VAIN, LEFT_OUT
from tests.races.table import read_table
from tests.races.writers import Writer, find_writers, watched

pytestmark = [
    pytest.mark.postgresql,  # SQLite has one writer
    pytest.mark.django_db(transaction=True),
]


def test_every_function_that_writes_is_run_by_an_act_of_the_matrix(
    interleaving: Interleaving,
) -> None:
    """A service that nobody puts into the table has never met another one."""
    ran: set[Writer] = set()
    refused = {}
    for row in read_table():
        answer = interleaving.run(row._replace(run=watched(row.run, ran))).answer
        if is_refusal(answer):
            refused[row.name] = answer
    assert refused == ASKING_IN_VAIN
    assert {str(each) for each in find_writers() - ran} == LEFT_OUT.keys()
