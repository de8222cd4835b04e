"""What an approval says, and what was decided and executed, no statement changes."""

import re
from functools import partial

import orjson
import pytest
from django.db import connection

from agent_access.approvals.models import ApprovalRequest, Decision
from config.environment import PROJECT_FOLDER
from tests.approvals import A_MINUTE_LATER, prepare
from tests.factories import make_draft
from tests.invoicing import statements
from tests.invoicing.statements import OTHER_ID, columns_of, execute

TOLD = r"[Aa]n approval .*cannot be"
refuse = partial(statements.refuse, told=TOLD)
TABLE = "agent_approvals_approvalrequest"

PREPARED_COLUMNS = {
    "id": OTHER_ID,
    "kind": "'notes.close'",
    "happens_once": "NOT happens_once",
    "target": "(SELECT MIN(id{text}) FROM invoices_document WHERE status = 'issued'){uuid}",
    "delegated_user_id": "(SELECT owner_id FROM invoices_company)",
    "connection_id": OTHER_ID,
    "connection_name": "'Another agent'",
    "target_version": "target_version + 1",
    "facts": "facts || ' '",
    "fingerprint": "'0'",
    "nonce_digest": "'0'",
    "prepared_at": "'2026-03-02 08:59:00+00:00'",
    "expires_at": "'2026-03-02 09:11:00+00:00'",
    "repeats": "7",
}

# Each is written once: the decision by deciding, the result by executing.
DECIDED_COLUMNS = {"decision", "decided_at", "rejection_reason", "demand"}
EXECUTED_COLUMNS = {"executed_at", "execute_key", "result"}
# Its place in the inbox, which changes until it is executed.
PLACE_COLUMNS = {"replaced_at"}


def test_every_column_is_one_that_the_triggers_keep():
    """A new column belongs into the triggers of both databases, and into one of these lists."""
    kept = {*PREPARED_COLUMNS, *DECIDED_COLUMNS, *EXECUTED_COLUMNS}
    assert set(columns_of(ApprovalRequest)) == kept | PLACE_COLUMNS
    for file in (PROJECT_FOLDER / "agent_access/approvals/sql").iterdir():
        compared = set(re.findall(r"\bOLD\.(\w+)", file.read_text(encoding="utf-8"))) - {"rowid"}
        assert compared == kept - EXECUTED_COLUMNS | {"executed_at"}, file.name


@pytest.fixture
def executed(delegate):
    prepared = prepare(make_draft(user=delegate), user=delegate)
    prepared.decide()
    prepared.execute()
    return prepared


@pytest.fixture
def prepared(executed, delegate):
    """Return an approval beside one that was executed."""
    return prepare(make_draft(user=delegate), user=delegate)


def where(prepared) -> str:
    return f"fingerprint = '{prepared.approval.fingerprint}'"


@pytest.mark.parametrize("column", PREPARED_COLUMNS)
def test_no_statement_changes_what_was_prepared(prepared, column):
    casts = {"text": "::text", "uuid": "::uuid"} if connection.vendor == "postgresql" else {}
    value = PREPARED_COLUMNS[column].format(**{"text": "", "uuid": "", **casts})
    change = f"{column} = {value}"
    refuse(f"UPDATE {TABLE} SET {change} WHERE {where(prepared)}")  # noqa: S608  constants only


@pytest.mark.parametrize("decision", Decision)
@pytest.mark.parametrize(
    "change",
    [
        "decision = '', decided_at = NULL, rejection_reason = ''",
        "decision = 'approved', rejection_reason = '', decided_at = '2026-03-02 09:02:00+00:00'",
        "decision = 'rejected', rejection_reason = 'No.', decided_at = decided_at",
        "decided_at = '2026-03-02 09:02:00+00:00'",
        "demand = 'another'",
    ],
)
def test_no_statement_changes_what_was_decided(prepared, decision, change):
    prepared.decide(decision, reason="Wrong customer.")
    refuse(f"UPDATE {TABLE} SET {change} WHERE {where(prepared)}")  # noqa: S608  constants only


def test_an_approval_never_becomes_a_rejection(prepared):
    prepared.decide()
    refuse(f"UPDATE {TABLE} SET decision = 'rejected' WHERE {where(prepared)}")  # noqa: S608  constants only


@pytest.mark.parametrize(
    "change",
    [
        "execute_key = 'another'",
        "result = 'another'",
        "executed_at = NULL, execute_key = '', result = ''",
        "executed_at = executed_at",
    ],
)
def test_no_statement_changes_what_was_executed(executed, change):
    refuse(f"UPDATE {TABLE} SET {change} WHERE {where(executed)}")  # noqa: S608  constants only


@pytest.mark.requirement("connection.approval_results_retained")
def test_no_statement_deletes_an_approval(prepared):
    refuse(f"DELETE FROM {TABLE} WHERE {where(prepared)}")  # noqa: S608  constants only
    refuse(f"DELETE FROM {TABLE}")  # noqa: S608  constants only


@pytest.mark.postgresql
def test_the_table_is_not_emptied(prepared):
    statements.truncate(TABLE, told=TOLD)


@pytest.mark.sqlite
def test_replace_pushes_no_approval_out(prepared):
    copy = f"SELECT * FROM {TABLE} WHERE {where(prepared)}"  # noqa: S608  constants only
    refuse(f"INSERT OR REPLACE INTO {TABLE} {copy}")


@pytest.mark.sqlite
def test_the_hidden_rowid_pushes_no_approval_out(prepared):
    columns = ", ".join(columns_of(ApprovalRequest))
    copied = columns.replace("id,", f"{OTHER_ID},", 1)
    rowid = f"(SELECT rowid FROM {TABLE} WHERE executed_at IS NOT NULL)"  # noqa: S608  constants only
    refuse(
        f"REPLACE INTO {TABLE} (rowid, {columns})"  # noqa: S608  constants only
        f" SELECT {rowid}, {copied} FROM {TABLE} WHERE {where(prepared)}"
    )
    refuse(f"UPDATE OR REPLACE {TABLE} SET rowid = {rowid} WHERE {where(prepared)}")  # noqa: S608  constants only


@pytest.mark.sqlite
def test_no_other_execution_pushes_the_one_of_a_document_out(executed, delegate):
    columns = ", ".join(columns_of(ApprovalRequest))
    copied = columns.replace("id,", f"{OTHER_ID},", 1)
    add = f"INTO {TABLE} ({columns}) SELECT {copied} FROM {TABLE}"  # noqa: S608  constants only
    refuse(f"INSERT OR REPLACE {add}")
    pending = add.replace("executed_at, execute_key, result FROM", "NULL, '', '' FROM")
    assert execute(f"INSERT {pending}") == 1
    execution = ", ".join(
        f"{name} = (SELECT {name} FROM {TABLE} WHERE executed_at IS NOT NULL)"  # noqa: S608  constants only
        for name in ("executed_at", "execute_key", "result")
    )
    refuse(f"UPDATE OR REPLACE {TABLE} SET {execution} WHERE executed_at IS NULL")  # noqa: S608  constants only


def test_deciding_and_executing_get_past_the_triggers(prepared):
    prepared.decide(now=A_MINUTE_LATER)
    assert orjson.loads(prepared.execute().result)["number"] == "INV-2026-0002"
