"""The books in production: a service that owns nothing, backups, and what a restore must mend."""

import re
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from config.environment import PROJECT_FOLDER
from tests.servers.installation import (
    OWNER_ROLE,
    PASSWORDS,
    PROVIDER_ROLE,
    ROLES,
    SERVICE_ROLE,
    Installation,
    make_books,
    run,
    run_sql,
)

pytestmark = pytest.mark.postgresql

OPERATIONS = PROJECT_FOLDER / "docs" / "operations.md"

SERIES = "SELECT type, year, last_value FROM invoices_numberseries ORDER BY type, year"
LIVE = "SELECT count(*) FROM agent_access_connection WHERE revoked_at IS NULL"
NUMBERS = "SELECT number FROM invoices_document WHERE number IS NOT NULL ORDER BY number"

ORIGINALS = "SELECT id, digest, encode(sha256(content), 'hex') FROM invoices_original ORDER BY id"

NEXT_NUMBER = """
from django.db import transaction
from invoicing.models import DocumentType
from invoicing.services.numbering import next_number
with transaction.atomic():
    print(next_number(DocumentType.INVOICE, 2026).number)
    transaction.set_rollback(True)
"""


@pytest.fixture(scope="module")
def heads(installation: Installation) -> Path:
    """The heads of the audit chains, kept elsewhere at the time of the backup."""
    file = installation.folder / "heads"
    file.write_text(installation.manage("verify_audit"))
    return file


@pytest.fixture(scope="module")
def backup(installation: Installation, heads: Path) -> Path:
    file = installation.folder / "books.dump"
    installation.manage("make_originals", "--from", "2026-01-01", "--to", "2026-12-31")
    pg_dump = str(installation.cluster.binaries / "pg_dump")
    run([pg_dump, "--format=custom", f"--file={file}", installation.url(OWNER_ROLE)])
    return file


def restore(installation: Installation, backup: Path, *, database: str) -> Installation:
    """Return the books as the backup gives them back, beside those that went on."""
    made = replace(installation, database=database)
    make_books(installation.cluster, database)
    pg_restore = str(installation.cluster.binaries / "pg_restore")
    options = ["--exit-on-error", "--single-transaction", f"--dbname={made.url(PROVIDER_ROLE)}"]
    run([pg_restore, *options, str(backup)])
    return made


@pytest.fixture(scope="module")
def restored(installation: Installation, backup: Path) -> Installation:
    """Restored books that no test changes."""
    return restore(installation, backup, database="restored")


def test_a_database_in_another_encoding_gets_no_tables(installation):
    made = "CREATE DATABASE bytes ENCODING SQL_ASCII TEMPLATE template0"
    run_sql(installation.cluster, f"--command={made}")
    of_bytes = replace(installation, database="bytes")
    with pytest.raises(AssertionError, match="has an encoding other than UTF-8"):
        of_bytes.manage("migrate", role="postgres")
    assert of_bytes.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


@pytest.mark.parametrize("passwords", [{}, PASSWORDS | {"SERVICE_PASSWORD": ""}])
def test_roles_without_their_passwords_are_not_touched(installation, passwords):
    with pytest.raises(AssertionError, match="Set OWNER_PASSWORD and SERVICE_PASSWORD"):
        run_sql(installation.cluster, f"--file={ROLES}", passwords=passwords)
    kept = "SELECT count(*) FROM pg_authid WHERE rolname LIKE 'invoicing%' AND rolpassword <> ''"
    assert installation.query(kept, role="postgres") == [(2,)]


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE agent_access_auditevent",
        "ALTER TABLE invoices_document DISABLE TRIGGER ALL",
        "DROP TRIGGER invoices_document_issued ON invoices_document",
        "ALTER TABLE invoices_document ADD COLUMN another integer",
        "DROP TABLE invoices_document",
        "CREATE TABLE another (id integer)",
        "CREATE TEMPORARY TABLE invoices_document (id uuid, status text)",
        "SET session_replication_role = replica",
    ],
)
def test_the_services_role_cannot_touch_what_guards_the_books(installation, statement):
    with pytest.raises(errors.InsufficientPrivilege):
        installation.query(statement, role=SERVICE_ROLE)


def test_the_services_role_serves_and_is_found_sound(installation):
    found = installation.manage("check", "--deploy", "--database", "default", "--fail-level=ERROR")
    assert "operations.W004" not in found
    assert installation.query("SELECT count(*) > 0 FROM invoices_customer", role=SERVICE_ROLE)


def test_a_restored_backup_is_what_was_backed_up(installation, restored, heads):
    assert restored.query(NUMBERS) == installation.query(NUMBERS) != []
    assert restored.query(SERIES) == installation.query(SERIES)
    assert restored.query(ORIGINALS) == installation.query(ORIGINALS) != []
    assert restored.manage("verify_audit", "--expect", str(heads)) == heads.read_text()
    restored.manage("migrate", "--check", role=OWNER_ROLE)


def test_a_restored_backup_guards_its_documents(restored):
    with pytest.raises(errors.RestrictViolation):
        restored.query("UPDATE invoices_document SET number = 'X' WHERE status = 'issued'")
    with pytest.raises(errors.RestrictViolation):
        restored.query("DELETE FROM invoices_original")
    with pytest.raises(errors.InsufficientPrivilege):
        restored.query("TRUNCATE invoices_document", role=SERVICE_ROLE)
    assert restored.manage("check", "--database", "default") == (
        "System check identified no issues (0 silenced).\n"
    )


def test_what_happened_after_the_backup_is_named(installation, restored):
    installation.connect("Made after the backup")
    later = installation.folder / "later-heads"
    later.write_text(installation.manage("verify_audit"))
    with pytest.raises(AssertionError) as refusal:
        restored.manage("verify_audit", "--expect", str(later))
    assert "administration" in str(refusal.value)


def test_the_steps_after_a_restore_end_what_it_revived_and_move_the_series(installation, backup):
    restored = restore(installation, backup, database="mended")
    restored.connect("Alive again")
    assert restored.query(LIVE) != [(0,)]
    restored.manage("agent_access", "off")
    assert restored.query(LIVE) == [(0,)]

    [block] = re.findall(r"BEGIN;(.*?)COMMIT;", OPERATIONS.read_text("utf-8"), re.DOTALL)
    aside, move, again, _ = block.split(";")
    begin = move.replace("2026", "2027")  # a year whose first number came after the backup
    back = move.replace("4711", "3")
    with psycopg.connect(restored.url(OWNER_ROLE)) as connection:
        connection.execute(aside)
        assert [connection.execute(each).rowcount for each in (move, begin, back)] == [1, 1, 0]
        connection.execute(again)
    for year in ("2026", "2027"):
        next_number = NEXT_NUMBER.replace("2026", year)
        told = restored.manage("shell", "--no-imports", "--command", next_number)
        assert told == f"INV-{year}-4712\n"
