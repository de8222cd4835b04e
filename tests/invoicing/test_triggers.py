from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.checks import run_checks
from django.db import IntegrityError, connection, transaction
from django.db.migrations import Migration
from django.db.models.signals import post_migrate, pre_migrate

from agent_access.database import triggers
from invoicing.models import Document, Line, TaxRow
from tests.factories import TaxRateFactory, line_input, make_draft, make_issued
from tests.invoicing import statements
from tests.invoicing.statements import OTHER_ID, columns_of, execute
from tests.snapshots import take_snapshot

APP = apps.get_app_config("invoices")
FOLDER = Path(APP.path) / "sql"
PLAN = [(Migration("0002_another", APP.label), False)]
ISSUED = "(SELECT id FROM invoices_document WHERE status = 'issued')"
DRAFT = "(SELECT id FROM invoices_document WHERE status = 'draft')"
# What no other document has; the series of a number is kept.
OTHER_KEYS = {
    "id": OTHER_ID,
    "draft_code": "'D-00000000'",
    "number": "'INV-2026-0009'",
    "series_value": "9",
}

refuse = partial(statements.refuse, told="issued document")


def differences() -> list[str]:
    return triggers.find_differences(connection, FOLDER)


def own_warnings() -> list[str]:
    warnings = run_checks(tags=["database"], databases=["default"])
    return [warning.msg for warning in warnings if warning.id == "invoices.W001"]


@pytest.fixture
def issued(db) -> Document:
    """Return an issued invoice, beside which there is a draft, both with a line and a tax row."""
    rate, other = TaxRateFactory.create_batch(2)
    make_draft(lines=(line_input(tax_rate_id=other.id),))
    return make_issued(lines=(line_input(tax_rate_id=rate.id),))


@pytest.mark.requirement("document.frozen")
@pytest.mark.parametrize(
    "change",
    [
        "notes = 'x'",
        "notes = notes",
        "number = 'INV-2026-0009'",
        "status = 'draft', number = NULL, series_id = NULL, series_value = NULL, issued_at = NULL",
        "lock_version = lock_version + 1",
        "internal_notes = 'x'",
        ", ".join(f"{column} = {value}" for column, value in OTHER_KEYS.items()),
    ],
)
def test_no_statement_changes_an_issued_document(issued, change) -> None:
    refuse(f"UPDATE invoices_document SET {change} WHERE status = 'issued'")  # noqa: S608 (constants only)


@pytest.mark.requirement("document.frozen")
@pytest.mark.parametrize("model", [Document, Line, TaxRow])
def test_no_column_of_an_issued_document_or_its_parts_changes(issued, model) -> None:
    """Not even to what it is: nothing but the guard can have refused that."""
    table, whose = model._meta.db_table, "id" if model is Document else "document_id"
    for column in columns_of(model):
        refuse(f"UPDATE {table} SET {column} = {column} WHERE {whose} = {ISSUED}")  # noqa: S608 (constants only)


@pytest.mark.postgresql  # on SQLite a trigger reads its own schema alone
@pytest.mark.requirement("document.frozen")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE public.invoices_line SET description = 'forged'",
        "DELETE FROM public.invoices_taxrow",
    ],
)
def test_no_temporary_table_stands_in_for_the_documents(issued, statement) -> None:
    execute("CREATE TEMPORARY TABLE invoices_document (id uuid, status text)")
    with pytest.raises(IntegrityError, match="issued document"), transaction.atomic():
        execute(statement)


# What a role makes that may create in the schema: operators for the very types that the guards
# compare, and statements that would then be let through.
EQUAL = """
    CREATE FUNCTION never(varchar, varchar) RETURNS boolean LANGUAGE sql RETURN false;
    CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = never);
"""
LESS = """
    CREATE FUNCTION never({kind}, {kind}) RETURNS boolean LANGUAGE sql RETURN false;
    CREATE OPERATOR < (LEFTARG = {kind}, RIGHTARG = {kind}, FUNCTION = never);
"""
GUARDED = [
    (EQUAL, "UPDATE invoices_document SET notes = 'forged' WHERE status::text = 'issued'"),
    (EQUAL, "DELETE FROM invoices_document WHERE status::text = 'issued'"),
    (EQUAL, "UPDATE invoices_line SET description = 'forged'"),
    (EQUAL, "DELETE FROM invoices_taxrow"),
    (
        LESS.format(kind="integer") + LESS.format(kind="bigint"),
        "UPDATE invoices_numberseries SET last_value = last_value - 1",
    ),
]


@pytest.fixture
def hostile(issued) -> None:
    """Act as a role that reads and writes rows and may create in the schema."""
    execute("CREATE ROLE hostile")
    execute("GRANT CREATE, USAGE ON SCHEMA public TO hostile")
    execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO hostile")
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    execute("SET LOCAL ROLE hostile")


@pytest.mark.postgresql
@pytest.mark.requirement("document.frozen")
@pytest.mark.parametrize(("operators", "statement"), GUARDED)
def test_no_operator_of_a_hostile_role_gets_in_the_way_of_a_guard(
    hostile, operators, statement
) -> None:
    execute(operators)
    execute("SET LOCAL search_path = public, pg_catalog")
    refused = "issued document|number series"
    with pytest.raises(IntegrityError, match=refused), transaction.atomic():
        execute(statement)


@pytest.mark.requirement("document.frozen")
def test_no_statement_deletes_an_issued_document(issued) -> None:
    refuse("DELETE FROM invoices_document WHERE status = 'issued'")
    refuse("DELETE FROM invoices_document")


@pytest.mark.requirement("document.frozen")
@pytest.mark.parametrize("table", ["invoices_line", "invoices_taxrow"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET position = 7 WHERE document_id = {issued}",
        "DELETE FROM {table} WHERE document_id = {issued}",
        "DELETE FROM {table}",
        "UPDATE {table} SET document_id = {draft}, position = 7 WHERE document_id = {issued}",
        """
        UPDATE {table} SET document_id = {draft}, position = 7, id = {new_id}
        WHERE document_id = {issued}
        """,
        "UPDATE {table} SET document_id = {issued}, position = 7 WHERE document_id = {draft}",
    ],
)
def test_no_statement_changes_deletes_or_moves_its_parts(issued, table, statement) -> None:
    refuse(statement.format(table=table, issued=ISSUED, draft=DRAFT, new_id=OTHER_KEYS["id"]))


@pytest.mark.requirement("document.frozen")
@pytest.mark.postgresql
@pytest.mark.parametrize(
    "statement",
    [
        """
        INSERT INTO invoices_taxrow SELECT * FROM invoices_taxrow WHERE document_id = {issued}
        ON CONFLICT (id) DO UPDATE SET position = 7
        """,
        """
        INSERT INTO invoices_taxrow SELECT * FROM invoices_taxrow WHERE document_id = {draft}
        ON CONFLICT (id) DO UPDATE SET document_id = {issued}, position = 7
        """,
        """
        MERGE INTO invoices_taxrow AS kept USING (SELECT) AS nothing ON kept.document_id = {issued}
        WHEN MATCHED THEN DELETE
        """,
        """
        WITH harmless AS (UPDATE invoices_taxrow SET position = 7 WHERE document_id = {draft})
        UPDATE invoices_taxrow SET position = 7 WHERE document_id = {issued}
        """,
        """
        WITH removed AS (DELETE FROM invoices_taxrow WHERE document_id = {issued} RETURNING *)
        INSERT INTO invoices_taxrow SELECT * FROM removed
        """,
    ],
)
def test_no_statement_of_two_kinds_gets_at_its_parts(issued, statement) -> None:
    refuse(statement.format(issued=ISSUED, draft=DRAFT))


@pytest.mark.requirement("document.frozen")
@pytest.mark.parametrize("model", [Line, TaxRow])
def test_no_statement_adds_a_part_to_it(issued, model) -> None:
    part = model.objects.filter(document=issued).get()
    part.pk, part.position, part.tax_rate = None, 7, TaxRateFactory.create()
    before = {name: rows for name, rows in take_snapshot().items() if "TaxRate" not in name}
    with pytest.raises(IntegrityError, match="issued document"), transaction.atomic():
        model.objects.bulk_create([part])
    after = {name: rows for name, rows in take_snapshot().items() if "TaxRate" not in name}
    assert after == before


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "statement",
    [
        """
        INSERT OR REPLACE INTO invoices_document
        SELECT * FROM invoices_document WHERE status = 'issued'
        """,
        "UPDATE OR REPLACE invoices_document SET id = {issued} WHERE status = 'draft'",
        """
        UPDATE OR REPLACE invoices_document
        SET draft_code = (SELECT draft_code FROM invoices_document WHERE status = 'issued')
        WHERE status = 'draft'
        """,
        """
        INSERT OR REPLACE INTO invoices_line
        SELECT * FROM invoices_line WHERE document_id = {issued}
        """,
        """
        UPDATE OR REPLACE invoices_line
        SET id = (SELECT id FROM invoices_line WHERE document_id = {issued})
        WHERE document_id = {draft}
        """,
        """
        UPDATE OR REPLACE invoices_taxrow
        SET id = (SELECT id FROM invoices_taxrow WHERE document_id = {issued})
        WHERE document_id = {draft}
        """,
    ],
)
def test_replace_pushes_no_issued_row_out(issued, statement) -> None:
    refuse(statement.format(issued=ISSUED, draft=DRAFT))


@pytest.mark.sqlite
@pytest.mark.parametrize("key", OTHER_KEYS)
def test_one_key_in_common_is_enough_to_keep_an_issued_row(issued, key) -> None:
    other = {column: value for column, value in OTHER_KEYS.items() if column != key}
    columns = columns_of(Document)
    values = ", ".join(other.get(column, column) for column in columns)
    refuse(
        f"INSERT OR REPLACE INTO invoices_document ({', '.join(columns)})"  # noqa: S608 (constants only)
        f" SELECT {values} FROM invoices_document WHERE status = 'issued'"
    )
    taken = (key, "status", "number", "series_id", "series_value", "issued_at")
    copied = {
        column: f"(SELECT {column} FROM invoices_document WHERE status = 'issued')"  # noqa: S608 (constants only)
        for column in taken
    }
    changes = ", ".join(f"{column} = {value}" for column, value in (copied | other).items())
    refuse(f"UPDATE OR REPLACE invoices_document SET {changes} WHERE status = 'draft'")  # noqa: S608 (constants only)


@pytest.mark.sqlite
@pytest.mark.parametrize("model", [Line, TaxRow])
def test_replace_takes_no_part_away_from_an_issued_document(issued, model) -> None:
    table, columns = model._meta.db_table, columns_of(model)
    values = ", ".join(DRAFT if column == "document_id" else column for column in columns)
    refuse(
        f"INSERT OR REPLACE INTO {table} ({', '.join(columns)})"  # noqa: S608 (constants only)
        f" SELECT {values} FROM {table} WHERE document_id = {ISSUED}"
    )


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("model", "whose"), [(Document, "id"), (Line, "document_id"), (TaxRow, "document_id")]
)
def test_the_hidden_rowid_pushes_no_issued_row_out(issued, model, whose) -> None:
    table, columns = model._meta.db_table, columns_of(model)
    other = {name: OTHER_KEYS[name] for name in ("id", "draft_code")} | {"position": "7"}
    values = ", ".join(other.get(column, column) for column in columns)
    rowid = f"(SELECT rowid FROM {table} WHERE {whose} = {ISSUED})"  # noqa: S608 (constants only)
    refuse(
        f"REPLACE INTO {table} (rowid, {', '.join(columns)})"  # noqa: S608 (constants only)
        f" SELECT {rowid}, {values} FROM {table} WHERE {whose} = {DRAFT}"
    )
    refuse(f"UPDATE OR REPLACE {table} SET rowid = {rowid} WHERE {whose} = {DRAFT}")  # noqa: S608 (constants only)


@pytest.mark.requirement("document.frozen")
@pytest.mark.postgresql
@pytest.mark.parametrize("table", ["invoices_document", "invoices_line", "invoices_taxrow"])
def test_no_table_with_issued_facts_is_emptied(issued, table) -> None:
    statements.truncate(table, told="issued document")


@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_table_without_issued_facts_may_be_emptied() -> None:
    make_draft()
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    execute("TRUNCATE invoices_document CASCADE")
    assert Document.objects.count() == Line.objects.count() == 0


@pytest.mark.django_db
def test_a_draft_can_be_changed_and_deleted() -> None:
    rate = TaxRateFactory.create()
    make_draft(lines=(line_input(tax_rate_id=rate.id),))
    for sql in (
        "UPDATE invoices_line SET position = 7",
        "UPDATE invoices_taxrow SET position = 7",
        "UPDATE invoices_document SET notes = 'x'",
        "DELETE FROM invoices_line",
        "DELETE FROM invoices_taxrow",
        "DELETE FROM invoices_document",
    ):
        assert execute(sql) == 1


@pytest.mark.django_db
def test_a_migrated_database_holds_the_triggers_of_the_file() -> None:
    assert own_warnings() == []


@pytest.mark.django_db
def test_every_missing_trigger_is_named_and_installed_again() -> None:
    triggers.drop(connection, FOLDER)
    named = differences()
    text = (FOLDER / f"triggers.{connection.vendor}.sql").read_text(encoding="utf-8")
    again = 3 if connection.vendor == "sqlite" else 0  # for the tax rows what is said of lines
    assert len(named) == text.count("\nCREATE ") + again
    assert all(sentence.endswith(" is missing.") for sentence in named)
    triggers.install(connection, FOLDER)
    triggers.install(connection, FOLDER)
    assert differences() == []


@pytest.mark.django_db
def test_the_system_check_warns_of_a_dropped_trigger() -> None:
    suffix = " ON invoices_line" if connection.vendor == "postgresql" else ""
    name = "invoices_line_issued_update"
    execute(f"DROP TRIGGER {name}{suffix}")
    assert own_warnings() == [f"The database trigger {name} is missing."]


@pytest.mark.sqlite
@pytest.mark.django_db
def test_an_altered_sqlite_trigger_is_named() -> None:
    execute("DROP TRIGGER invoices_line_issued_update")
    execute(
        "CREATE TRIGGER invoices_line_issued_update BEFORE UPDATE ON invoices_line WHEN 0"
        " BEGIN SELECT 1; END"
    )
    assert differences() == [
        "The database trigger invoices_line_issued_update is not the one of this release."
    ]


@pytest.mark.postgresql
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "ALTER TABLE invoices_line DISABLE TRIGGER invoices_line_issued_delete",
            "trigger invoices_line_issued_delete",
        ),
        (
            """
            CREATE OR REPLACE TRIGGER invoices_line_issued_delete BEFORE DELETE ON invoices_line
            FOR EACH ROW EXECUTE FUNCTION invoices_keep_issued_part()
            """,
            "trigger invoices_line_issued_delete",
        ),
        (
            "ALTER FUNCTION invoices_keep_issued_part() RESET search_path",
            "function invoices_keep_issued_part",
        ),
        (
            "ALTER FUNCTION invoices_keep_issued_part() SET search_path = public",
            "function invoices_keep_issued_part",
        ),
        (
            "ALTER FUNCTION invoices_keep_issued_part() SET work_mem = '1MB'",
            "function invoices_keep_issued_part",
        ),
        (
            """
            CREATE OR REPLACE FUNCTION invoices_keep_issued_part() RETURNS trigger
            LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END;'
            """,
            "function invoices_keep_issued_part",
        ),
    ],
)
def test_an_altered_postgresql_trigger_is_named_and_repaired(statement, named) -> None:
    execute(statement)
    assert differences() == [f"The database {named} is not the one of this release."]
    triggers.install(connection, FOLDER)
    assert differences() == []


@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_function_is_replaced_while_others_use_its_tables() -> None:
    """Else a migrate and a write of the service could each wait for the other."""
    execute(
        "CREATE OR REPLACE FUNCTION invoices_keep_person() RETURNS trigger"
        " LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END;'"
    )
    triggers.install(connection, FOLDER)
    assert differences() == []
    locks = (
        "SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND mode LIKE '%Exclusive%'"
        " AND relation::regclass::text LIKE 'invoices%'"
    )
    assert execute(locks) == 0


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_triggers_are_replaced_in_a_transaction_for_each_table() -> None:
    execute("ALTER TABLE invoices_line DISABLE TRIGGER USER")
    execute("ALTER TABLE invoices_taxrow DISABLE TRIGGER USER")
    locked = (
        "SELECT count(DISTINCT relation) FROM pg_locks"
        " WHERE pid = pg_backend_pid() AND mode = 'ShareRowExclusiveLock'"
    )
    most = 0

    def count_locks(execute: Any, sql: str, *arguments: Any) -> Any:
        nonlocal most
        answer = execute(sql, *arguments)
        if sql.startswith("CREATE OR REPLACE TRIGGER"):
            most = max(most, *connection.connection.execute(locked).fetchone())
        return answer

    with connection.execute_wrapper(count_locks):
        triggers.install(connection, FOLDER)
    assert differences() == []
    assert most == 1


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_a_migration_that_makes_a_table_anew_gets_past_the_triggers() -> None:
    signal = {"app_config": APP, "verbosity": 0, "interactive": False, "using": "default"}
    pre_migrate.send(sender=APP, plan=PLAN, apps=apps, **signal)
    with connection.schema_editor() as editor:
        editor._remake_table(Document)  # type: ignore[attr-defined]  # SQLite has it only
    post_migrate.send(sender=APP, plan=PLAN, apps=apps, **signal)
    assert differences() == []


@pytest.mark.django_db
def test_a_migrate_without_a_plan_leaves_the_triggers_alone() -> None:
    pre_migrate.send(sender=APP, app_config=APP, verbosity=0, using="default", plan=[], apps=apps)
    assert differences() == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLE evil (id int)", "not a CREATE TRIGGER"),
        (
            "CREATE FUNCTION open() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN$$;",
            "without its search_path",
        ),
    ],
    ids=["table", "function"],
)
def test_a_file_with_another_kind_of_statement_is_refused(tmp_path, statement, said) -> None:
    (tmp_path / f"triggers.{connection.vendor}.sql").write_text(statement, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        triggers.install(connection, tmp_path)


@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_trigger_of_an_earlier_release_goes_when_its_function_changes() -> None:
    execute("DROP FUNCTION invoices_keep_issued_part() CASCADE")
    execute(
        "CREATE FUNCTION invoices_keep_issued_part() RETURNS trigger"
        " LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END;'"
    )
    execute(
        "CREATE TRIGGER invoices_line_issued BEFORE INSERT ON invoices_line"
        " FOR EACH ROW EXECUTE FUNCTION invoices_keep_issued_part()"
    )
    triggers.install(connection, FOLDER)
    assert differences() == []
    assert execute("SELECT FROM pg_trigger WHERE tgname = 'invoices_line_issued'") == 0
