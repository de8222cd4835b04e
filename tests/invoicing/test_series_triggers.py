"""A number series only goes forward: no statement takes a number back."""

from functools import partial

import pytest

from invoicing.models import NumberSeries
from tests.factories import make_issued
from tests.invoicing import statements
from tests.invoicing.statements import OTHER_ID, execute

pytestmark = pytest.mark.django_db

TOLD = "[Aa] number series"
refuse = partial(statements.refuse, told=TOLD)


@pytest.fixture
def series(company) -> NumberSeries:
    for _ in range(2):
        make_issued()
    return NumberSeries.objects.get(last_value=2)


@pytest.mark.parametrize(
    "change",
    [
        "last_value = 1",
        "last_value = 3, year = 2027",
        "type = 'credit_note'",
        f"id = {OTHER_ID}",
    ],
)
def test_no_statement_takes_it_back_or_makes_it_another(series, change):
    refuse(f"UPDATE invoices_numberseries SET {change}")  # noqa: S608  the test's own


def test_no_statement_deletes_it(series):
    refuse("DELETE FROM invoices_numberseries")


@pytest.mark.postgresql
def test_no_statement_empties_its_table():
    NumberSeries.objects.create(type="invoice", year=2026, last_value=1)
    statements.truncate("invoices_numberseries", told=TOLD)


@pytest.mark.sqlite
@pytest.mark.parametrize("same", ["id", "type, year", "rowid"])
def test_no_row_replaces_it(series, same):
    columns = {
        "id": (OTHER_ID, "id"),
        "type": ("'credit_note'", "type"),
        "year": ("2027", "year"),
        "rowid": ("NULL", "rowid"),
    }
    kept = same.split(", ")
    values = ", ".join(own if name in kept else other for name, (other, own) in columns.items())
    names = ", ".join(columns)
    refuse(
        f"INSERT OR REPLACE INTO invoices_numberseries ({names}, last_value)"  # noqa: S608  as above
        f" SELECT {values}, 0 FROM invoices_numberseries"
    )


def test_an_operator_moves_it_past_lost_numbers(series):
    execute(
        "INSERT INTO invoices_numberseries AS series (id, type, year, last_value)"
        " VALUES ('01890000000070008000000000000002', 'credit_note', 2026, 1)"
    )
    execute("UPDATE invoices_numberseries SET last_value = 4711 WHERE type = 'invoice'")
    series.refresh_from_db()
    assert series.last_value == 4711
    assert make_issued().number == "INV-2026-4712"
