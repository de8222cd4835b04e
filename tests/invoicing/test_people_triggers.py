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
def test_no_statement_replaces_a_person():
    UserFactory.create(email="paul@halden.example")
    refuse(
        "REPLACE INTO invoices_user SELECT * FROM invoices_user WHERE email = 'paul@halden.example'"
    )


@pytest.mark.postgresql
def test_no_statement_empties_the_table():
    UserFactory.create()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # PostgreSQL truncates nothing before
    refuse("TRUNCATE invoices_user CASCADE")
