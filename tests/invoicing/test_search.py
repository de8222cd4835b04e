from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invoicing.models import Customer
from invoicing.search import (
    SCAN_BATCH_ROWS,
    SCANNED_ROWS_PER_CALL,
    PageRequest,
    beginnings_of,
    find_page,
    matches,
    needed_beginnings,
    words_of,
)
from tests.factories import CustomerFactory


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("INV-2026-0001", ["inv", "2026", "0001"]),
        ("Café Société", ["cafe", "societe"]),
        ("Straße", ["strasse"]),
        ("ŁÓDŹ", ["lodz"]),
        ("Smørrebrød", ["smorrebrod"]),
        ("İstanbul Isparta", ["istanbul", "isparta"]),
        ("\uff26\uff35\uff2c\uff2c\u3000\uff37idth", ["full", "width"]),
        ("東京タワー Ltd", ["東京タワー", "ltd"]),
        ("株式会社ABC", ["株式会社", "abc"]),
        ("한국 전력", ["한국", "전력"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ﬁrst_second", ["first", "second"]),
        ("--- !!! ・", []),
        ("\u0301", []),
        ("\u094d", []),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_without_case_and_accents(text, words) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("search", "texts"),
    [
        ("0001", ["INV-2026-0001"]),
        ("inv 2026", ["INV-2026-0001"]),
        ("mull", ["Müller & Söhne"]),
        ("MÜLLER", ["Muller"]),
        ("sohne mul", ["Müller & Söhne"]),
        ("京", ["東京タワー"]),
        ("京タ", ["東京タワー"]),
        ("ﾀﾜｰ", ["東京タワー"]),
        ("한", ["한국 전력"]),
        ("กรุง", ["ธนาคารกรุงเทพ"]),
        ("ανθη", ["Άνθη"]),
        ("acme berlin", ["ACME", "Berlin"]),
    ],
)
def test_every_word_of_the_search_begins_a_word_of_the_record(search, texts) -> None:
    assert matches(words_of(search), texts)


@pytest.mark.parametrize(
    ("search", "texts"),
    [
        ("001", ["INV-2026-0001"]),
        ("ller", ["Müller"]),
        ("muller paris", ["Müller"]),
        ("か", ["がく"]),
        ("京東", ["東京"]),
        ("국", ["한국"]),
        ("!?", ["anything"]),
        ("acmeb", ["ACME", "Berlin"]),
    ],
)
def test_a_record_without_such_words_is_not_found(search, texts) -> None:
    assert not matches(words_of(search), texts)


@pytest.mark.parametrize(
    ("text", "beginnings"),
    [
        ("Inv 20", {"i", "in", "inv", "2", "20"}),
        ("a" * 20, {"a" * length for length in range(1, 17)}),
        ("東京", {"東", "東京", "京"}),
        ("東京商事", {"東", "京", "商", "事", "東京", "京商", "商事", "東京商", "京商事"}),
        ("!", set()),
    ],
)
def test_a_record_is_found_by_the_beginnings_of_its_words(text, beginnings) -> None:
    assert beginnings_of([text]) == beginnings


@pytest.mark.parametrize(
    ("search", "needed"),
    [
        ("inv", {"inv"}),
        ("in inv", {"inv"}),
        ("inv 2026", {"inv", "2026"}),
        ("a" * 20, {"a" * 16}),
        ("京", {"京"}),
        ("東京商事", {"東京商", "京商事"}),
        ("京 東京商", {"東京商", "京"}),
    ],
)
def test_a_search_needs_few_beginnings_that_few_records_have(search, needed) -> None:
    assert needed_beginnings(words_of(search)) == needed


TEXT = st.text("abä東京カฟ ก-1é", max_size=24)


@given(search=TEXT, texts=st.lists(TEXT, max_size=3))
def test_what_matches_has_all_the_beginnings_that_are_needed(search, texts) -> None:
    if matches(words_of(search), texts):
        assert needed_beginnings(words_of(search)) <= beginnings_of(texts)


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


@pytest.mark.requirement("list.order")
@pytest.mark.django_db
def test_pages_follow_the_order_of_creation_to_a_null_cursor() -> None:
    for name in ("a", "b", "c", "d"):
        CustomerFactory.create(name=name)
    assert walk("", limit=2) == [["a", "b"], ["c", "d"]]
    assert walk(" ", limit=3) == [["a", "b", "c"], ["d"]]
    assert walk("", limit=4) == [["a", "b", "c", "d"]]


@pytest.mark.django_db
def test_search_pages_hold_matches_only() -> None:
    for name in ("Ant", "bee", "ANT farm", "antelope", "cat", "ant"):
        CustomerFactory.create(name=name)
    assert walk("ant", limit=2) == [["Ant", "ANT farm"], ["antelope", "ant"]]
    assert walk("ant", limit=4) == [["Ant", "ANT farm", "antelope", "ant"]]
    assert walk("dog", limit=2) == [[]]


@pytest.mark.django_db
def test_a_search_without_letters_or_digits_finds_nothing_and_asks_nothing(
    django_assert_num_queries,
) -> None:
    CustomerFactory.create()
    with django_assert_num_queries(0):
        assert walk("%_!", limit=2) == [[]]


@pytest.mark.django_db
def test_a_page_without_search_is_one_query(django_assert_num_queries) -> None:
    CustomerFactory.create_batch(3)
    with django_assert_num_queries(1):
        find_page(Customer.objects.all(), PageRequest(limit=2), texts=names)


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
