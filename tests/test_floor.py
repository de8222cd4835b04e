"""The floor of the benchmarks stands on the product's own tables."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo

from benchmarks.floor import Floor
from benchmarks.subjects import References

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def floor(connect, delegate, customer, tax_rate) -> Iterator[Floor]:
    connect(delegate)
    kept = connection.settings_dict
    database = make_conninfo(
        dbname=kept["NAME"], user=kept["USER"], host=kept["HOST"], port=kept["PORT"] or None
    )
    references = References(customer_id=str(customer.id), tax_rate_ids=(str(tax_rate.id),))
    try:
        with closing(Floor(database, references)) as made:
            yield made
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA floor CASCADE")


def test_bare_sql_does_every_kind_of_work_on_the_columns_of_today(floor):
    for prepare in floor.subject().operations.values():
        for step in prepare(2):
            step()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM floor.invoices_document WHERE number LIKE 'F-000_'")
        assert cursor.fetchone() == (2,)
