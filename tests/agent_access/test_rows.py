"""Statements written by hand keep and give values as Django does."""

from datetime import UTC, date, datetime

import pytest
from django.db import DataError, IntegrityError, models, transaction
from django.db import connection as database
from django.test.utils import isolate_apps

from agent_access.models import Receipt
from agent_access.rows import Rows
from invoicing.identifiers import new_id
from invoicing.models import Company, Customer, Document
from tests.factories import CustomerFactory, make_issued


def select(rows, record):
    names = rows.select("it")
    statement = f"SELECT {names} FROM {rows.table} AS it WHERE it.{rows.key} = %s"  # noqa: S608  names only
    with database.cursor() as cursor:
        cursor.execute(statement, [rows.adapt("id", record.pk)])
        return cursor.fetchone()


def columns_of(record):
    return {name: value for name, value in vars(record).items() if not name.startswith("_")}


@pytest.mark.django_db
def test_a_row_is_read_as_django_reads_it():
    saved = Document.objects.get(pk=make_issued().pk)
    rows = Rows(Document)
    row = select(rows, saved)
    assert columns_of(rows.read(row)) == columns_of(saved)
    assert rows.read_columns(row) == columns_of(saved)
    assert isinstance(rows.read(row).issued_at, datetime)


@pytest.mark.django_db
def test_some_columns_are_read_alone():
    saved = make_issued()
    rows = Rows(Document, only=("id", "issue_date"))
    assert rows.read_columns(select(rows, saved)) == {
        "id": saved.id,
        "issue_date": date(saved.issue_date.year, saved.issue_date.month, saved.issue_date.day),
    }
    assert "number" not in Rows(Document, without=("number",)).columns


@pytest.mark.django_db
def test_a_row_is_written_as_django_writes_it():
    customer = CustomerFactory.build(name="Ünïcode 日本", is_active=False)
    assert Rows(Customer).insert(customer)
    assert columns_of(Customer.objects.get()) == columns_of(customer)
    customer.name, customer.city = "Changed", "not written"
    Rows(Customer).update(customer, "name", "is_active")
    assert Customer.objects.values_list("name", "is_active").get() == ("Changed", False)
    assert Customer.objects.get().city != "not written"


@pytest.mark.django_db
def test_a_row_that_is_there_is_left_alone_if_asked(connection):
    receipt = Receipt(connection=connection, key="one", created_at=datetime.now(UTC))
    assert Rows(Receipt).insert(receipt, unless_there=True)
    second = Receipt(connection=connection, key="one", tool="x", created_at=datetime.now(UTC))
    assert not Rows(Receipt).insert(second, unless_there=True)
    assert Receipt.objects.values_list("tool", flat=True).get() == ""
    with pytest.raises(IntegrityError), transaction.atomic():
        Rows(Receipt).insert(second)


@pytest.mark.postgresql
def test_what_is_too_long_is_refused_and_not_cut(connection):
    receipt = Receipt(connection=connection, key="k" * 81, created_at=datetime.now(UTC))
    with pytest.raises(DataError), transaction.atomic():
        Rows(Receipt).insert(receipt)
    assert not Receipt.objects.exists()


def test_the_value_of_the_only_row(company):
    assert Rows(Company).find_value("owner_id") == company.owner_id
    assert Rows(Company).find_value("is_only_one") is True
    assert Rows(Customer).find_value("id") is None


@pytest.mark.django_db
@isolate_apps("django.contrib.contenttypes")
def test_tables_and_columns_may_have_any_name():
    """Names that mean something to SQL, or have capitals, and a key named unlike its column."""

    class Strange(models.Model):
        id = models.UUIDField(primary_key=True, default=new_id, db_column="userID")
        order = models.CharField(max_length=20)

        class Meta:
            app_label = "strange"
            db_table = "user"

    saved = Strange(order="first")
    rows = Rows(Strange)
    with database.cursor() as cursor:
        kind = Strange._meta.pk.db_type(database)
        cursor.execute(f'CREATE TEMPORARY TABLE "user" ("userID" {kind}, "order" varchar(20))')
    assert rows.insert(saved)
    saved.order = "second"
    rows.update(saved, "order")
    row = select(rows, saved)
    assert columns_of(rows.read(row)) == columns_of(saved)
    assert rows.convert_key(row[0]) == saved.id
    assert rows.find_value("order") == "second"
