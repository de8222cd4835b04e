"""The table of approvals goes to agent_access.approvals: rehearsed with rows of the release before.

They were decided and executed under the triggers of that release, which forbid to write them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from agent_access.approvals.models import Decision
from agent_access.database import triggers
from agent_access.database.constraints import find_lost_constraints
from agent_access.database.schema import lacks_migrations
from agent_access.models import Receipt
from invoicing.models import Document
from tests.factories import make_draft
from tests.interface.issuing import decide, execute, prepare, read
from tests.threads import Encounter, run_together
from tests.upgrades import migrate, migrate_back, read_rows

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("many_calls"),
    pytest.mark.prove,
]

FORMER, NEW = "invoices_issueapproval", "agent_approvals_approvalrequest"
FORMER_TRIGGERS = Path(__file__).parent / "former_triggers"
STATES = ("pending", "approved", "rejected", "executed")
RENAMED = {"document_id": "target", "lock_version": "target_version"}


def query(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


@pytest.fixture
def asked(agent, delegate) -> dict[str, Any]:
    """An approval in each state that is stored, by name, with what its agent was told."""
    told = {state: prepare(agent, make_draft(user=delegate).id, key=state).data for state in STATES}
    for state in ("approved", "executed"):
        decide(told[state])
    decide(told["rejected"], Decision.REJECTED, reason="Not this one.")
    return told


@pytest.fixture
def issued(agent, asked) -> Any:
    return execute(agent, asked["executed"])


@pytest.fixture
def former(asked, issued) -> Iterator[dict[Any, dict[str, Any]]]:
    """Bring the database to the release before; return the rows of its table."""
    migrate_back("invoices", "0016")
    migrate_back("agent_approvals", "zero")
    triggers.drop(connection, FORMER_TRIGGERS)  # what stands in their place
    for statement in triggers._read_statements(connection, FORMER_TRIGGERS):
        run(statement.sql)
    yield read_rows(FORMER)
    migrate()


def place_of(table: str) -> Any:
    """Return what tells whether rows were written or moved to another file."""
    if connection.vendor == "sqlite":
        return query(f"SELECT rowid, id FROM {table} ORDER BY id")  # noqa: S608  constants only
    file = query(f"SELECT pg_relation_filenode('{table}')")
    return file, query(f"SELECT ctid::text, xmin::text, id FROM {table} ORDER BY id")  # noqa: S608  constants only


def test_no_row_is_written_or_copied_and_nothing_of_the_former_table_is_left(former):
    with pytest.raises(IntegrityError), transaction.atomic():
        run(f"UPDATE {FORMER} SET result = 'x' WHERE result <> ''")  # noqa: S608  constants only
    before = place_of(FORMER)
    migrate()

    assert place_of(NEW) == before
    more = {"kind": "documents.issue", "happens_once": True, "repeats": None, "replaced_at": None}
    more |= {"demand": None}
    assert read_rows(NEW) == {
        pk: {RENAMED.get(name, name): value for name, value in row.items()} | more
        for pk, row in former.items()
    }
    assert FORMER not in connection.introspection.table_names()
    assert (lacks_migrations(), find_lost_constraints(connection)) == (False, [])
    for folder in triggers.installed_folders:
        assert triggers.find_differences(connection, folder) == []
    held = {name for _, name in triggers._read_definitions(connection)}
    assert held.isdisjoint({"invoices_keep_approval", f"{FORMER}_kept", f"{FORMER}_kept_update"})


def test_what_was_asked_before_goes_on_after(agent, asked, former, issued):
    """What was executed is answered byte for byte: by its receipt, and then by its kept result."""
    migrate()
    states = {state: read(agent, told)["status"] for state, told in asked.items()}
    assert states == {state: state for state in STATES}
    for _ in ("receipt", "result"):
        again = execute(agent, asked["executed"])
        assert (again.status, again.content) == (200, issued.content)
        Receipt.objects.all().delete()
    assert execute(agent, asked["executed"], key="another").code == "approval_used"
    assert execute(agent, asked["rejected"], key="refused").code == "approval_rejected"
    document = Document.objects.get(pk=asked["pending"]["document_id"])
    with pytest.raises(IntegrityError):
        document.delete()
    decide(asked["pending"])
    for state in ("pending", "approved"):
        assert execute(agent, asked[state], key=f"execute-{state}").status == 200
    assert Document.objects.filter(status="issued").count() == 3


@pytest.mark.postgresql  # SQLite has one writer at a time
def test_a_migration_waits_for_a_call_under_way_and_carries_what_it_did(
    agent, asked, former, issued
):
    """The call is one of the release before: it locked the approval, and has yet to execute it."""
    encounter, pk = Encounter(), asked["approved"]["approval_id"]

    def execute_as_before() -> None:
        with transaction.atomic():
            query(f"SELECT id FROM {FORMER} WHERE id = '{pk}' FOR NO KEY UPDATE")  # noqa: S608  constants only
            encounter.wait_here()
            query("SELECT id FROM invoices_document FOR NO KEY UPDATE")
            run(
                f"UPDATE {FORMER} SET executed_at = decided_at, execute_key = 'in-flight',"  # noqa: S608  constants only
                f" result = (SELECT result FROM {FORMER} WHERE result <> '') WHERE id = '{pk}'"
            )

    run_together([execute_as_before, lambda: encounter.come(migrate)])
    answer = execute(agent, asked["approved"], key="in-flight")
    assert (answer.status, answer.content) == (200, issued.content)
