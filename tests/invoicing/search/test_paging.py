from uuid import UUID

import pytest

from invoicing.models import Customer
from invoicing.search import paging
from invoicing.search.paging import SCAN_BATCH_ROWS, SCANNED_ROWS_PER_CALL, PageRequest, find_page
from tests.factories import CustomerFactory


def names(customer: Customer) -> list[str]:
    return [customer.name]


def walk(search, limit) -> list[list[str]]:
    """Return the names of each page, following the cursor to the end."""
    pages: list[list[str]] = []
    after: UUID | None = None
    while True:
        request = PageRequest(search=search, after=after, limit=limit)
        page, after = find_page(Customer.objects.all(), request, texts=names)
        pages.append([customer.name for customer in page])
        if after is None:
            return pages


@pytest.mark.django_db
def test_a_search_without_letters_or_digits_finds_nothing_and_asks_nothing(
    django_assert_num_queries,
) -> None:
    CustomerFactory.create()
    with django_assert_num_queries(0):
        assert walk("%_!", limit=2) == [[]]


@pytest.mark.django_db
def test_a_page_that_one_batch_fills_is_cut_when_the_next_shows_that_there_is_more(
    monkeypatch,
) -> None:
    monkeypatch.setattr(paging, "SCAN_BATCH_ROWS", 3)
    monkeypatch.setattr(paging, "SCANNED_ROWS_PER_CALL", 6)
    for number in range(7):
        CustomerFactory.create(name=f"ant {number}")
    assert walk("ant", limit=3) == [
        ["ant 0", "ant 1", "ant 2"],
        ["ant 3", "ant 4", "ant 5"],
        ["ant 6"],
    ]


@pytest.mark.django_db
def test_one_call_reads_a_bounded_number_of_rows(django_assert_num_queries) -> None:
    rows = SCANNED_ROWS_PER_CALL + 1
    customers = Customer.objects.bulk_create(
        Customer(name="last" if number == rows else "other") for number in range(1, rows + 1)
    )
    with django_assert_num_queries(SCANNED_ROWS_PER_CALL // SCAN_BATCH_ROWS):
        request = PageRequest(search="last", limit=5)
        page, after = find_page(Customer.objects.all(), request, texts=names)
    assert (page, after) == ([], customers[SCANNED_ROWS_PER_CALL - 1].id)
    assert walk("last", limit=5) == [[], ["last"]]
