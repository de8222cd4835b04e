"""Renames the table of approvals to that of agent_access.approvals; no row is copied or written.

Triggers keep what was decided and executed, so a new column gets its value from a default in the
table's definition. The column `target` keeps its foreign key to the documents: every kind of this
project acts on one, and a document that somebody was asked to issue is not deleted.
"""

from django.db import migrations

OLD = "invoices_issueapproval"
NEW = "agent_approvals_approvalrequest"
COLUMNS = {"document_id": "target", "lock_version": "target_version"}
# Type and value of the new columns, by vendor where they differ.
KIND = "varchar(100) NOT NULL DEFAULT 'documents.issue'"
HAPPENS_ONCE = {"postgresql": "boolean NOT NULL DEFAULT true", "sqlite": "bool NOT NULL DEFAULT 1"}
# Old and new name of each index, and its columns as they are called in the new table.
INDEXES = {
    "approval_by_delegate": ("agent_approval_by_delegate", "delegated_user_id, id"),
    "approval_by_expiry": ("agent_approval_by_expiry", "delegated_user_id, expires_at"),
    "approval_by_connection": ("agent_approval_by_connection", "connection_id, id"),
}
BY_TARGET = "agent_approval_by_target"
OLD_TRIGGERS = ("kept_insert", "kept_update", "replaced_update", "kept_delete")
OLD_FUNCTION, NEW_FUNCTION = "invoices_keep_approval", "agent_approvals_keep_request"


def carry_over(apps, schema_editor):
    run, vendor = schema_editor.execute, schema_editor.connection.vendor
    by_document = _find_index(schema_editor, OLD, "document_id")
    run(f"ALTER TABLE {OLD} RENAME TO {NEW}")
    _replace_guard(schema_editor, OLD_FUNCTION, NEW_FUNCTION)
    for old, new in COLUMNS.items():
        run(f"ALTER TABLE {NEW} RENAME COLUMN {old} TO {new}")
    run(f"ALTER TABLE {NEW} ADD COLUMN kind {KIND}")
    run(f"ALTER TABLE {NEW} ADD COLUMN happens_once {HAPPENS_ONCE[vendor]}")
    if vendor == "postgresql":  # SQLite keeps a default for good
        for column in ("kind", "happens_once"):
            run(f"ALTER TABLE {NEW} ALTER COLUMN {column} DROP DEFAULT")
    for old, (new, columns) in INDEXES.items():
        _rename_index(schema_editor, old, new, columns)
    _rename_index(schema_editor, by_document, BY_TARGET, "target")
    run("DROP INDEX approval_one_execution")
    run(
        f"CREATE UNIQUE INDEX agent_approval_one_execution ON {NEW} (kind, target)"
        " WHERE (executed_at IS NOT NULL AND happens_once)"
    )


def carry_back(apps, schema_editor):
    run = schema_editor.execute
    requests = apps.get_model("agent_approvals", "ApprovalRequest").objects
    if requests.exclude(kind="documents.issue").exists():
        raise ValueError("There are approvals of another kind, which the former table cannot hold.")
    run("DROP INDEX agent_approval_one_execution")
    for column in ("kind", "happens_once"):
        run(f"ALTER TABLE {NEW} DROP COLUMN {column}")
    for old, new in COLUMNS.items():
        run(f"ALTER TABLE {NEW} RENAME COLUMN {new} TO {old}")
    _replace_guard(schema_editor, NEW_FUNCTION, OLD_FUNCTION)
    run(f"ALTER TABLE {NEW} RENAME TO {OLD}")
    for old, (new, columns) in INDEXES.items():
        _rename_index(schema_editor, new, old, columns, table=OLD)
    _rename_index(schema_editor, BY_TARGET, f"{OLD}_document_id", "document_id", table=OLD)
    run(
        f"CREATE UNIQUE INDEX approval_one_execution ON {OLD} (document_id)"
        " WHERE executed_at IS NOT NULL"
    )


def _find_index(schema_editor, table, column):
    """Return the name of the index of a foreign key, which Django has made up."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        held = connection.introspection.get_constraints(cursor, table).items()
    [name] = [
        name
        for name, each in held
        if each["columns"] == [column] and each["index"] and not each["unique"]
    ]
    return name


def _rename_index(schema_editor, old, new, columns, table=NEW):
    """Rename it on PostgreSQL; SQLite cannot, and makes it anew."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"ALTER INDEX {old} RENAME TO {new}")
        return
    schema_editor.execute(f"DROP INDEX {old}")
    schema_editor.execute(f"CREATE INDEX {new} ON {table} ({columns})")


def _replace_guard(schema_editor, old, new):
    """Leave the table guarded until migrate, at its end, installs the triggers of the release.

    On PostgreSQL the function keeps its triggers under the name by which they will be found. It
    names columns that are called otherwise now, so until then every change is refused. On SQLite
    the whole database is locked meanwhile.
    """
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            f"DO $$ BEGIN IF to_regprocedure('{old}()') IS NOT NULL THEN"
            f" ALTER FUNCTION {old}() RENAME TO {new}; END IF; END $$"
        )
        return
    for name in OLD_TRIGGERS:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {OLD}_{name}")


class Migration(migrations.Migration):

    dependencies = [
        ("invoices", "0017_make_room_for_approvals"),
    ]
    # Which changes the table that this carries over.
    run_before = [("agent_approvals", "0002_one_card_for_the_same")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(carry_over, carry_back)],
            state_operations=[migrations.DeleteModel("IssueApproval")],
        )
    ]
