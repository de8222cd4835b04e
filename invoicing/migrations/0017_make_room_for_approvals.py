"""Drops the table that agent_access.approvals has just made, for the one with this project's rows.

By itself, since dropping a table with a foreign key to the people locks theirs, and the next
migration must lock no second table: a call under way may hold one and wait for the other.
"""

from django.db import migrations

TABLE = "agent_approvals_approvalrequest"


def drop_empty_table(apps, schema_editor):
    if apps.get_model("agent_approvals", "ApprovalRequest").objects.exists():
        raise ValueError(f"{TABLE} holds approvals already: nothing may take its place.")
    schema_editor.execute(f"DROP TABLE {TABLE}")
    if schema_editor.connection.vendor == "postgresql":
        # Of its triggers, where an earlier migrate has installed them.
        schema_editor.execute("DROP FUNCTION IF EXISTS agent_approvals_keep_request()")


def make_empty_table(apps, schema_editor):
    schema_editor.create_model(apps.get_model("agent_approvals", "ApprovalRequest"))


class Migration(migrations.Migration):

    dependencies = [
        ("invoices", "0016_search_forms"),
        ("agent_approvals", "0001_initial"),
    ]

    operations = [migrations.RunPython(drop_empty_table, make_empty_table)]
