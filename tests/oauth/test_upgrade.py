"""A database of the release whose settings swapped the toolkit's models, carried over in use."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from agent_access.credentials import digest_credential
from agent_access.models import Connection
from tests.agents import HttpAgent
from tests.oauth.endings import reason_of
from tests.oauth.programs import RETURN_ADDRESS, make_program, refusal_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.prove]

OURS = (
    "agent_oauth_application",
    "agent_oauth_grant",
    "agent_oauth_accesstoken",
    "agent_oauth_refreshtoken",
)
LAST_SWAPPED = "0001_squashed_0002_owners_desk"


def migrate(*target: str) -> None:
    call_command("migrate", *target, verbosity=0)


@pytest.fixture
def former_tables(transactional_db: None) -> Iterator[dict[str, Any]]:
    """Take the tables back to those of the former release; give those of this one, to compare.

    The toolkit's migrations were recorded there, and made no table for a model that was swapped.
    """
    tables = describe_tables()
    migrate("agent_oauth", LAST_SWAPPED)
    toolkit = apps.get_app_config("oauth2_provider")
    with connection.schema_editor() as editor:
        for model in toolkit.get_models():
            if model is not toolkit.get_model("DeviceGrant"):
                editor.delete_model(model)
    yield tables
    migrate()


def describe_tables() -> dict[str, Any]:
    """Return the columns and constraints of all tables, without the names of the latter."""
    with connection.cursor() as cursor:
        return {
            table: (
                sorted(map(repr, connection.introspection.get_table_description(cursor, table))),
                sorted(map(repr, connection.introspection.get_constraints(cursor, table).values())),
            )
            for table in connection.introspection.table_names(cursor)
        }


def read_rows() -> dict[str, list[dict[str, Any]]]:
    rows = {}
    with connection.cursor() as cursor:
        for table in OURS:
            cursor.execute(f"SELECT * FROM {table} ORDER BY id")  # noqa: S608  names of ours
            names = [column[0] for column in cursor.description]
            rows[table] = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for row in rows["agent_oauth_accesstoken"]:
        assert row.pop("id_token_id", None) is None
    return rows


def connection_of(code: str) -> Connection:
    return Connection.objects.get(codes__code=digest_credential(code))


def test_the_tables_become_those_of_a_new_installation(former_tables):
    assert describe_tables() != former_tables
    migrate()
    assert describe_tables() == former_tables


def test_what_was_given_before_works_afterwards_and_a_second_use_is_still_noticed(
    former_tables, sign_in_on, obtain_code
):
    program = make_program(RETURN_ADDRESS)  # a registration sweeps, by tables of this release
    unused, exchanged, refreshed = (obtain_code(program) for _ in range(3))
    first = program.exchange(exchanged).body
    rotated = program.exchange(refreshed).body
    newest = program.refresh(rotated["refresh_token"]).body
    before = read_rows()
    assert [len(rows) for rows in before.values()] == [1, 3, 3, 3]

    migrate()

    assert read_rows() == before
    assert HttpAgent(first["access_token"]).call("tools.list").status == 200
    assert HttpAgent(newest["access_token"]).call("tools.list").status == 200
    assert program.exchange(unused).status == 200
    again = program.refresh(newest["refresh_token"])
    assert again.status == 200

    assert refusal_of(program.exchange(exchanged)) == (400, "invalid_grant")
    assert refusal_of(program.refresh(rotated["refresh_token"])) == (400, "invalid_grant")
    assert reason_of(connection_of(exchanged)) == "code_reuse"
    assert reason_of(connection_of(refreshed)) == "refresh_reuse"
    for token in (first, newest, again.body):
        assert HttpAgent(token["access_token"]).call("tools.list").status == 401
    assert reason_of(connection_of(unused)) == ""
