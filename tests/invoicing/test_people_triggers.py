"""A person is deactivated, never deleted, by no statement."""

from functools import partial

import pytest
from django.db import IntegrityError, transaction

from invoicing.models import User
from tests.factories import UserFactory
from tests.invoicing import statements
from tests.invoicing.statements import OTHER_ID, columns_of

pytestmark = pytest.mark.django_db

STATEMENTS = ("DELETE FROM invoices_user", "DELETE FROM invoices_user WHERE name = 'Paul'")
TOLD = "person cannot be"
refuse = partial(statements.refuse, told=TOLD)


@pytest.fixture(autouse=True)
def paul(db) -> User:
    return UserFactory.create(name="Paul")


@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_statement_deletes_a_person(sql):
    refuse(sql)


def test_nor_does_the_application(paul):
    with pytest.raises(IntegrityError), transaction.atomic():
        paul.delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.all().delete()
    assert User.objects.get() == paul


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("column", "other"),
    [("email", "'other@halden.example'"), ("id", OTHER_ID)],
)
def test_no_statement_replaces_a_person(column, other):
    values = ", ".join(other if each == column else each for each in columns_of(User))
    refuse(
        f"REPLACE INTO invoices_user ({', '.join(columns_of(User))})"  # noqa: S608  constants only
        f" SELECT {values} FROM invoices_user"
    )


@pytest.mark.sqlite
def test_no_statement_gives_the_hidden_rowid_of_a_person_to_a_new_one():
    other = {"id": OTHER_ID, "email": "'other@halden.example'"}
    values = ", ".join(other.get(each, each) for each in columns_of(User))
    refuse(
        f"REPLACE INTO invoices_user (rowid, {', '.join(columns_of(User))})"  # noqa: S608  constants only
        f" SELECT rowid, {values} FROM invoices_user"
    )


@pytest.mark.sqlite
@pytest.mark.parametrize("column", ["id", "email", "rowid"])
def test_no_statement_puts_a_person_in_the_place_of_another(column):
    UserFactory.create(name="Quinn")
    taken = f"(SELECT {column} FROM invoices_user WHERE name = 'Paul')"  # noqa: S608  constants only
    refuse(f"UPDATE OR REPLACE invoices_user SET {column} = {taken} WHERE name = 'Quinn'")  # noqa: S608  constants only


@pytest.mark.postgresql
def test_no_statement_empties_the_table():
    statements.truncate("invoices_user", told=TOLD)
