"""A number series only goes forward: no statement takes a number back."""

import pytest
from django.db import IntegrityError, connection, transaction

from invoicing.models import NumberSeries
from tests.factories import make_issued
from tests.snapshots import take_snapshot

pytestmark = pytest.mark.django_db


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def refuse(sql: str) -> None:
    before = take_snapshot()
    with pytest.raises(IntegrityError, match="A number series"), transaction.atomic():
        execute(sql)
    assert take_snapshot() == before


@pytest.fixture
def series(company) -> NumberSeries:
    for _ in range(2):
        make_issued()
    found = NumberSeries.objects.get()
    assert found.last_value == 2
    return found


@pytest.mark.parametrize(
    "change",
    [
        "last_value = 1",
        "last_value = 3, year = 2027",
        "type = 'credit_note'",
        "id = '01890000000070008000000000000001'",
    ],
)
def test_no_statement_takes_it_back_or_makes_it_another(series, change):
    refuse(f"UPDATE invoices_numberseries SET {change}")  # noqa: S608  the test's own


def test_no_statement_deletes_it(series):
    refuse("DELETE FROM invoices_numberseries")


@pytest.mark.postgresql
def test_no_statement_empties_its_table():
    NumberSeries.objects.create(type="invoice", year=2026, last_value=1)
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    refuse("TRUNCATE invoices_numberseries CASCADE")


@pytest.mark.sqlite
@pytest.mark.parametrize("same", ["id", "type, year", "rowid"])
def test_no_row_replaces_it(series, same):
    columns = {
        "id": ("'01890000000070008000000000000001'", "id"),
        "type": ("'credit_note'", "type"),
        "year": ("2027", "year"),
        "rowid": ("NULL", "rowid"),
    }
    kept = same.split(", ")
    values = ", ".join(own if name in kept else other for name, (other, own) in columns.items())
    names = ", ".join(columns)
    before = take_snapshot()
    with (
        pytest.raises(IntegrityError, match="a number series cannot be replaced"),
        transaction.atomic(),
    ):
        execute(
            f"INSERT OR REPLACE INTO invoices_numberseries ({names}, last_value)"  # noqa: S608  as above
            f" SELECT {values}, 0 FROM invoices_numberseries"
        )
    assert take_snapshot() == before


def test_an_operator_moves_it_past_lost_numbers(series):
    execute(
        "INSERT INTO invoices_numberseries AS series (id, type, year, last_value)"
        " VALUES ('01890000000070008000000000000002', 'credit_note', 2026, 1)"
    )
    execute("UPDATE invoices_numberseries SET last_value = 4711 WHERE type = 'invoice'")
    series.refresh_from_db()
    assert series.last_value == 4711
    assert make_issued().number == "INV-2026-4712"
