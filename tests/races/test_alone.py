"""Each act by itself does what it is there for, and all of them do all that is ever written."""

from collections.abc import Iterable

import pytest

from tests.races.answers import is_refusal
from tests.races.footprints import find_targets
from tests.races.interleaving import Interleaving
from tests.races.left_out import ASKING_IN_VAIN, LEFT_OUT
from tests.races.rows import AUDIT, UNTOLD
from tests.races.table import Act, Thing, read_table
from tests.races.writers import Writer, find_writers, watched

pytestmark = [
    pytest.mark.postgresql,  # SQLite has one writer
    pytest.mark.django_db(transaction=True),
]

# Which thing an act changes that writes such a row: one of them, where it depends on the column.
OF_COMPANY, ACCESS = (Thing.PERSON, Thing.RATE), (Thing.CONNECTION,)
THINGS: dict[str, tuple[Thing, ...]] = {
    "agent_access_accesssettings": ACCESS,
    "agent_access_connection": ACCESS,
    "agent_access_receipt": ACCESS,
    "invoices_company": OF_COMPANY,
    "invoices_customer": (Thing.CUSTOMER,),
    "invoices_document": (Thing.DOCUMENT,),
    "invoices_line": (Thing.DOCUMENT,),
    "invoices_logo": (Thing.RATE,),
    "invoices_number": (Thing.SERIES,),
    "invoices_original": (Thing.ORIGINAL,),
    "invoices_taxrate": (Thing.RATE,),
    "invoices_taxrow": (Thing.DOCUMENT,),
    "invoices_team": (Thing.PERSON,),
    "invoices_user": (Thing.PERSON,),
    "invoices_workinghours": (Thing.PERSON,),
    "agent_approvals": (Thing.APPROVAL,),
    "agent_oauth": (Thing.CLIENT,),
    "agent_passkeys": (Thing.PASSKEY,),
    "agent_telling": (Thing.NOTICE,),
}


def find_undeclared(act: Act, statements: Iterable[str]) -> list[str]:
    """Return the tables that an act writes and of which it says to change nothing."""
    written = find_targets(statements) - {*AUDIT, *UNTOLD}
    return [each for each in sorted(written) if act.changes.isdisjoint(things_of(each))]


def things_of(table: str) -> tuple[Thing, ...]:
    [things] = (things for begin, things in THINGS.items() if table.startswith(begin))
    return things


def test_every_function_that_writes_is_run_by_an_act_of_the_matrix(
    interleaving: Interleaving,
) -> None:
    """A service that nobody puts into the table has never met another one.

    Nor does an act meet those that touch what it changes, if its row in the table does not say so.
    """
    ran: set[Writer] = set()
    refused, undeclared = {}, {}
    for row in read_table():
        alone = interleaving.run(row._replace(run=watched(row.run, ran)))
        if is_refusal(alone.answer):
            refused[row.name] = alone.answer
        if tables := find_undeclared(row, alone.statements):
            undeclared[row.name] = tables
    assert undeclared == {}
    assert refused == ASKING_IN_VAIN
    assert {str(each) for each in find_writers() - ran} == LEFT_OUT.keys()
