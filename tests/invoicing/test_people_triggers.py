"""A person is deactivated, never deleted, by no statement."""

import pytest
from django.db import IntegrityError, connection, transaction

from invoicing.models import User
from tests.factories import UserFactory
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db

STATEMENTS = ("DELETE FROM invoices_user", "DELETE FROM invoices_user WHERE name = 'Paul'")


def refuse(sql: str) -> None:
    before = take_snapshot()
    with (
        pytest.raises(IntegrityError, match="person cannot be"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)
    assert take_snapshot() == before


@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_statement_deletes_a_person(sql):
    UserFactory.create(name="Paul")
    refuse(sql)


def test_nor_does_the_application(db):
    person = UserFactory.create()
    with pytest.raises(IntegrityError), transaction.atomic():
        person.delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.all().delete()
    assert User.objects.get() == person


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("column", "other"),
    [("email", "'other@halden.example'"), ("id", "'01890000000070008000000000000001'")],
)
def test_no_statement_replaces_a_person(column, other):
    UserFactory.create(name="Paul")
    columns = [str(field.column) for field in User._meta.local_concrete_fields]
    values = ", ".join(other if each == column else each for each in columns)
    refuse(
        f"REPLACE INTO invoices_user ({', '.join(columns)})"  # noqa: S608  constants only
        f" SELECT {values} FROM invoices_user"
    )


@pytest.mark.sqlite
def test_no_statement_gives_the_hidden_rowid_of_a_person_to_a_new_one():
    UserFactory.create(name="Paul")
    columns = [str(field.column) for field in User._meta.local_concrete_fields]
    other = {"id": "'01890000000070008000000000000001'", "email": "'other@halden.example'"}
    values = ", ".join(other.get(each, each) for each in columns)
    refuse(
        f"REPLACE INTO invoices_user (rowid, {', '.join(columns)})"  # noqa: S608  constants only
        f" SELECT rowid, {values} FROM invoices_user"
    )


@pytest.mark.sqlite
@pytest.mark.parametrize("column", ["id", "email", "rowid"])
def test_no_statement_puts_a_person_in_the_place_of_another(column):
    UserFactory.create(name="Paul")
    UserFactory.create(name="Quinn")
    taken = f"(SELECT {column} FROM invoices_user WHERE name = 'Paul')"  # noqa: S608  constants only
    refuse(f"UPDATE OR REPLACE invoices_user SET {column} = {taken} WHERE name = 'Quinn'")  # noqa: S608  constants only


@pytest.mark.postgresql
def test_no_statement_empties_the_table():
    UserFactory.create()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # PostgreSQL truncates nothing before
    refuse("TRUNCATE invoices_user CASCADE")
