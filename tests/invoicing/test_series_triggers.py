"""A number series that a document bears goes forward one by one, whatever the statement."""

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
        "last_value = 2",
        "last_value = 4",
        "last_value = 3, year = 2027",
        "type = 'credit_note'",
        f"id = {OTHER_ID}",
    ],
)
def test_no_statement_takes_it_back_or_on_or_makes_it_another(series, change):
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


@pytest.mark.parametrize("change", ["type = 'credit_note'", "year = 2027", f"id = {OTHER_ID}"])
def test_before_a_document_bears_it_only_its_value_changes(db, change):
    NumberSeries.objects.create(type="invoice", year=2026, last_value=7)
    for value in (500, 3):
        execute(f"UPDATE invoices_numberseries SET last_value = {value}")  # noqa: S608  as above
    refuse(f"UPDATE invoices_numberseries SET {change}")  # noqa: S608  as above
    assert make_issued().number == "INV-2026-0004"
