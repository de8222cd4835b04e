"""What the daily check says of tables that have lost a constraint."""

from typing import Any

import pytest
from django.core.checks import run_checks
from django.db import connection

from agent_access.database.constraints import find_lost_constraints
from agent_access.models import AccessSettings
from invoicing.models import Document
from tests.factories import make_draft

pytestmark = pytest.mark.django_db


[NAMED, *_] = AccessSettings._meta.constraints


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_a_migrated_database_has_lost_nothing() -> None:
    make_draft()
    assert find_lost_constraints(connection) == []


def name_in_database(table: str, **wanted: object) -> str:
    """Return PostgreSQL's name of the constraint of a table that has these facts."""
    with connection.cursor() as cursor:
        held: dict[str, Any] = connection.introspection.get_constraints(cursor, table)
    [name] = [
        name for name, facts in held.items() if all(facts[key] == wanted[key] for key in wanted)
    ]
    return name


LINE, SKILLS, USER = "invoices_line", "invoices_user_skills", "invoices_user"


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("table", "wanted", "lost"),
    [
        (LINE, {"foreign_key": ("invoices_document", "id")}, "foreign key document_id"),
        (SKILLS, {"columns": ["user_id", "skill_id"]}, "unique (user_id, skill_id)"),
        (USER, {"unique": True, "columns": ["email"]}, "unique email"),
        ("invoices_taxrow", {"primary_key": True}, "primary key"),
    ],
)
def test_what_a_field_declares_is_missed(table, wanted, lost) -> None:
    execute(f"ALTER TABLE {table} DROP CONSTRAINT {name_in_database(table, **wanted)} CASCADE")
    assert find_lost_constraints(connection) == [f"the {lost} of {table}"]


@pytest.mark.postgresql
@pytest.mark.parametrize("constraint", Document._meta.constraints, ids=lambda each: each.name)
def test_what_a_model_declares_by_name_is_missed(constraint) -> None:
    name = constraint.name
    execute(f"ALTER TABLE invoices_document DROP CONSTRAINT IF EXISTS {name}")
    execute(f"DROP INDEX IF EXISTS {name}")
    assert find_lost_constraints(connection) == [f"the constraint {name} of invoices_document"]


@pytest.mark.postgresql
def test_foreign_keys_that_are_not_enforced_are_told() -> None:
    execute("ALTER TABLE invoices_line DISABLE TRIGGER ALL")
    assert find_lost_constraints(connection) == ["the enforcement of foreign keys of invoices_line"]


COLUMNS = "id integer NOT NULL{key}, user_id char(32){user}, skill_id char(32){skill}{unique}"
DECLARED = {
    "key": " PRIMARY KEY",
    "user": " REFERENCES invoices_user (id)",
    "skill": " REFERENCES invoices_skill (id)",
    "unique": ', CONSTRAINT "pair" UNIQUE ("user_id", "skill_id")',
}


@pytest.mark.sqlite  # which changes the constraints of a table by making it anew
def test_a_table_that_was_made_anew_with_less_is_told() -> None:
    def find_lost_of(declared: dict[str, str]) -> list[str]:
        execute(f"DROP TABLE {SKILLS}")
        execute(f"CREATE TABLE {SKILLS} ({COLUMNS.format(**declared)})")
        return find_lost_constraints(connection)

    keys = ("primary key", "unique (user_id, skill_id)", "foreign key user_id")
    lost = [f"the {key} of {SKILLS}" for key in (*keys, "foreign key skill_id")]
    assert find_lost_of(DECLARED) == []
    assert find_lost_of(dict.fromkeys(DECLARED, "")) == lost


@pytest.mark.sqlite  # as above
@pytest.mark.parametrize(
    ("check", "lost"),
    [
        (' CHECK ((JSON_VALID("modules_off") OR "modules_off" IS NULL))', "check of modules_off"),
        (f' CONSTRAINT "{NAMED.name}" CHECK', f"constraint {NAMED.name}"),
    ],
)
def test_a_check_that_was_left_out_is_told(check, lost) -> None:
    table = AccessSettings._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [table])
        [(sql,)] = cursor.fetchall()
    assert check in sql
    left = sql.replace(check, " CHECK" if "CONSTRAINT" in check else "")
    execute(f"DROP TABLE {table}")
    execute(left)
    assert find_lost_constraints(connection) == [f"the {lost} of {table}"]


def test_only_the_daily_check_warns_and_says_what_to_do(monkeypatch) -> None:
    find = "agent_access.database.constraints.find_lost_constraints"
    monkeypatch.setattr(find, lambda _: ["the unique name"])
    for include, told in ((False, []), (True, ["The database has lost the unique name."])):
        found = run_checks(
            tags=["database"], databases=["default"], include_deployment_checks=include
        )
        warnings = [each for each in found if each.id == "agent_access.W010"]
        assert [each.msg for each in warnings] == told
        assert all("find out who" in str(each.hint) for each in warnings)
