"""Statements written by hand keep and give values as Django does."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from django.db import DataError, models, transaction
from django.db import connection as database
from django.test.utils import isolate_apps

from agent_access.database.rows import EVERY, Rows, find_together, insert_together
from agent_access.database.statements import execute_together
from agent_access.models import Receipt
from invoicing.identifiers import new_id
from invoicing.models import Company, Customer, Document, DocumentStatus, Line, TaxRate
from invoicing.money import MAX_AMOUNT
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    TaxRateFactory,
    line_input,
    make_draft,
    make_issued,
)


def select(rows, record):
    names = rows.select("it")
    statement = f"SELECT {names} FROM {rows.table} AS it WHERE it.{rows.key} = %s"  # noqa: S608  names only
    with database.cursor() as cursor:
        cursor.execute(statement, [rows.adapt("id", record.pk)])
        return cursor.fetchone()


def update(rows, change, **wanted: Any) -> int:
    """Update the rows that have these values; return how many."""
    return execute_together({"changed": rows.compose_update(change, rows.equal(**wanted))})


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
def test_records_of_several_models_are_found_in_one_statement(django_assert_num_queries):
    make_draft(lines=(line_input(description='"Ünïcode" \U0001f680\n'), line_input(unit="")))
    TaxRateFactory.create(is_active=False)
    CompanyFactory.create()
    lines, companies = Rows(Line), Rows(Company)
    rates, customers = Rows(TaxRate), Rows(Customer)
    searches = (
        (lines, lines.equal(position=0)),
        (rates, EVERY),
        (customers, customers.equal(name="Nobody")),
        (companies, EVERY),
    )
    with django_assert_num_queries(1):
        found = find_together(*searches)
    saved = (
        Line.objects.filter(position=0),
        TaxRate.objects.order_by("id"),
        (),
        Company.objects.all(),
    )
    ordered = [sorted(records, key=lambda record: record.pk) for records in found]
    assert [[*map(columns_of, records)] for records in ordered] == [
        [*map(columns_of, records)] for records in saved
    ]
    assert repr([*map(columns_of, found[1])]) == repr([*map(columns_of, saved[1])])  # not 0 or 1
    assert not any(record._state.adding for records in found for record in records)


def test_nothing_is_found_without_a_search():
    assert find_together() == []


@pytest.mark.django_db
def test_records_with_times_are_not_found_together():
    with pytest.raises(TypeError, match="issue_date cannot be read from JSON"):
        find_together((Rows(Document), EVERY))


@isolate_apps("tests")
def test_a_field_that_converts_what_it_reads_is_not_read_from_json():
    converting = {"from_db_value": lambda _field, value, *_rest: value.upper()}
    loud_field = type("LoudField", (models.TextField,), converting)

    class Note(models.Model):
        text = loud_field()

        class Meta:
            app_label = "tests"

    with pytest.raises(TypeError, match="text cannot be read from JSON"):
        Rows(Note).read_json("[]")


@pytest.mark.django_db
def test_a_record_is_made_as_django_makes_it():
    made = CustomerFactory.build(name="Acme Ltd")
    same = Rows(Customer).make(columns_of(made))
    assert columns_of(same) == columns_of(made)
    assert same._state.adding
    same.save()
    assert Customer.objects.get() == made


@pytest.mark.django_db
def test_a_row_is_written_as_django_writes_it():
    customer = CustomerFactory.build(name="Ünïcode 日本", is_active=False)
    assert Rows(Customer).insert_if_new(customer)
    assert columns_of(Customer.objects.get()) == columns_of(customer)
    assert not customer._state.adding


@pytest.mark.django_db
def test_many_rows_are_written_as_django_writes_them():
    names = ["Ünïcode \U0001f680 {\"'\\\\,}\n", "", "plain"]
    customers = [CustomerFactory.build(name=name, is_active=not name) for name in names]
    insert_together((Rows(Customer), customers), (Rows(Document), []))
    insert_together((Rows(Customer), []))
    saved = {customer.pk: columns_of(customer) for customer in Customer.objects.all()}
    assert saved == {customer.pk: columns_of(customer) for customer in customers}
    assert not any(customer._state.adding for customer in customers)


@pytest.mark.django_db
def test_the_largest_and_oddest_values_are_written_as_django_writes_them():
    draft = Document.objects.get(pk=make_draft().pk)
    document = Document(**columns_of(draft))
    document.id, document.draft_code, document.status = new_id(), "D-ODDLARGE", DocumentStatus.DRAFT
    document.net_total = document.grand_total = MAX_AMOUNT
    document.issue_date, document.due_date = date.min, date.max
    document.notes, document.reference = "\u2028\x7f\\u0041 %s '\"\n", "\U0001f9fe" * 100
    document.connection_id = new_id()
    document.created_at = datetime(2026, 3, 2, 9, 0, 0, 123456, timezone(timedelta(hours=5.75)))
    document.updated_at = datetime.max.replace(tzinfo=UTC)
    insert_together((Rows(Document), [document]))
    assert columns_of(Document.objects.get(pk=document.pk)) == columns_of(document)


@pytest.mark.django_db
def test_rows_are_found_by_all_conditions():
    rows = Rows(Customer)
    ada, bob, cyd = (CustomerFactory.create(name=name) for name in ("Ada", "Bob", "Cyd"))
    among = rows.among("id", [ada.pk, cyd.pk, new_id()])
    assert rows.find(among, suffix="ORDER BY record.name DESC") == [cyd, ada]
    assert rows.find(among, rows.equal(name="Ada", is_active=True)) == [ada]
    assert rows.find(among, rows.equal(name="Bob")) == []
    assert rows.find(rows.among("id", [ada.pk])) == [ada]
    assert rows.find(rows.among("id", [])) == []
    assert set(rows.find()) == {ada, bob, cyd}


@pytest.mark.django_db
def test_what_has_no_value_is_found_by_none():
    issued, draft = make_issued(), make_draft()
    rows = Rows(Document)
    assert rows.find(rows.equal(issued_at=None)) == [draft]
    assert rows.find(rows.equal(issued_at=issued.issued_at, connection_id=None)) == [issued]


@pytest.mark.django_db
def test_only_rows_that_meet_the_condition_are_changed():
    rows = Rows(Customer)
    ada, bob = (CustomerFactory.create(name=name, city="Köln") for name in ("Ada", "Bob"))
    before = columns_of(Customer.objects.get(pk=bob.pk))
    change = {"city": "", "is_active": False}
    assert update(rows, change, id=ada.pk, name="Bob") == 0
    assert update(rows, change, id=ada.pk, name="Ada") == 1
    assert columns_of(Customer.objects.get(pk=ada.pk)) == columns_of(ada) | change
    assert columns_of(Customer.objects.get(pk=bob.pk)) == before


@pytest.mark.django_db
def test_a_row_that_is_there_is_left_alone(connection):
    receipt = Receipt(connection=connection, key="one", created_at=datetime.now(UTC))
    assert Rows(Receipt).insert_if_new(receipt)
    second = Receipt(connection=connection, key="one", tool="x", created_at=datetime.now(UTC))
    assert not Rows(Receipt).insert_if_new(second)
    assert Receipt.objects.values_list("tool", flat=True).get() == ""


@pytest.mark.postgresql
def test_what_is_too_long_is_refused_and_not_cut(connection):
    receipt = Receipt(connection=connection, key="k" * 81, created_at=datetime.now(UTC))
    with pytest.raises(DataError), transaction.atomic():
        Rows(Receipt).insert_if_new(receipt)
    assert not Receipt.objects.exists()


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
    assert rows.insert_if_new(saved)
    saved.order = "second"
    assert update(rows, {"order": "second"}, id=saved.id, order="first") == 1
    assert rows.find(rows.among("order", ["second"])) == [saved]
    row = select(rows, saved)
    assert columns_of(rows.read(row)) == columns_of(saved)
    assert rows.convert_key(row[0]) == saved.id
