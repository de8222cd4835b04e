"""What was signed, and what a passkey is, no statement changes: rows are only added."""

from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from agent_access.passkeys.models import Passkey, Signature
from tests.invoicing import statements
from tests.invoicing.statements import OTHER_ID, columns_of, execute, truncate

PASSKEYS, SIGNATURES = "agent_passkeys_passkey", "agent_passkeys_signature"
refuse = partial(statements.refuse, told=r"[Pp]asskey .*cannot be|signature cannot be")

# What is known of a passkey only later.
LATER = {"name", "counter", "last_used_at", "removed_at"}
OTHER_VALUES = {
    "id": OTHER_ID,
    "person_id": "(SELECT owner_id FROM invoices_company)",
    "credential_id": "'AAAA'",
    "public_key": "'AAAA'",
    "is_apart": "NOT is_apart",
    "is_synced": "NOT is_synced",
    "added_at": "'2026-03-02 08:59:00+00:00'",
}


@pytest.fixture
def signed(asked, soft) -> Signature:
    asked.sign(soft)
    return Signature.objects.get()


def test_every_column_of_a_passkey_is_kept_or_known_later() -> None:
    assert set(columns_of(Passkey)) == {*OTHER_VALUES, *LATER}


@pytest.mark.parametrize("column", ["facts", "demand", "signature", "public_key", "signed_at"])
def test_no_statement_changes_a_signature(signed, column) -> None:
    refuse(f"UPDATE {SIGNATURES} SET {column} = {column}")  # noqa: S608  our own words


@pytest.mark.parametrize("where", ["", " WHERE purpose = 'approve'"])
def test_no_statement_deletes_a_signature(signed, where) -> None:
    refuse(f"DELETE FROM {SIGNATURES}{where}")  # noqa: S608  our own words


@pytest.mark.sqlite  # PostgreSQL has no REPLACE
def test_no_statement_replaces_a_signature(signed) -> None:
    refuse(f"REPLACE INTO {SIGNATURES} SELECT * FROM {SIGNATURES}")  # noqa: S608  our own words


@pytest.mark.postgresql  # SQLite has no TRUNCATE
@pytest.mark.parametrize(
    ("table", "told"), [(SIGNATURES, "signature cannot be"), (PASSKEYS, "passkey cannot be")]
)
def test_no_statement_empties_the_tables(signed, table, told) -> None:
    truncate(table, told=told)


@pytest.mark.parametrize("column", OTHER_VALUES)
def test_no_statement_changes_what_a_passkey_is(signed, column) -> None:
    cast = "::uuid" if connection.vendor == "postgresql" and column == "id" else ""
    refuse(f"UPDATE {PASSKEYS} SET {column} = {OTHER_VALUES[column]}{cast}")  # noqa: S608  our own words


def test_no_statement_brings_a_removed_passkey_back(signed) -> None:
    Passkey.objects.update(removed_at=timezone.now())
    refuse(f"UPDATE {PASSKEYS} SET removed_at = NULL")  # noqa: S608  our own words


@pytest.mark.parametrize("where", ["", " WHERE removed_at IS NULL"])
def test_no_statement_deletes_a_passkey(signed, where) -> None:
    refuse(f"DELETE FROM {PASSKEYS}{where}")  # noqa: S608  our own words


@pytest.mark.sqlite  # PostgreSQL has no REPLACE
def test_no_statement_replaces_a_passkey(signed) -> None:
    refuse(f"REPLACE INTO {PASSKEYS} SELECT * FROM {PASSKEYS}")  # noqa: S608  our own words


@pytest.mark.postgresql  # on SQLite the trigger refuses it before
def test_an_act_has_one_signature(signed) -> None:
    columns = ", ".join(columns_of(Signature))
    others = columns.replace("id", f"{OTHER_ID}::uuid", 1)
    told = pytest.raises(IntegrityError, match="agent_passkeys_one_signature")
    with told, transaction.atomic():
        execute(f"INSERT INTO {SIGNATURES} ({columns}) SELECT {others} FROM {SIGNATURES}")  # noqa: S608  our own words
