"""The word table finds exactly what comparing every record finds, in a bounded number of steps."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import cycle, product
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.bulk_documents import NewDocument, write_documents
from invoicing.models import Customer, Document, DocumentStatus
from invoicing.search import records, table
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_customers, find_documents
from invoicing.search.table import LISTS_PER_STATEMENT, TABLE
from invoicing.search.texts import texts_of_customer, texts_of_document
from invoicing.search.words import matches, sought_in
from invoicing.services.customers import change_customer, create_customers
from tests.factories import (
    CompanyFactory,
    CustomerFactory,
    UserFactory,
    draft_input,
    make_draft,
    make_issued,
    make_staff,
)
from tests.plans import gather_statistics, plans_of

pytestmark = pytest.mark.django_db

LONG = "n" * 17
SYLLABLES = (
    "an",
    "ant",
    "ä",
    "be",
    "20",
    "東京",
    "商",
    "กรุง",
    "カ",
    "ł",
    "ø",
    "한국",
    "007",
    LONG,
    f"{LONG}x",
)
SEPARATORS = (" ", "-", "'", "", "")
CUSTOMERS = 30
DOCUMENTS = 45
SEARCHES = 30


def make_text(random: Random, syllables: int) -> str:
    parts = (random.choice(SYLLABLES) + random.choice(SEPARATORS) for _ in range(syllables))
    return "".join(parts).strip(" -") or "x"


def compare_all(records: Iterable[Any], texts: Callable[[Any], Iterable[str]], search: str) -> Any:
    """Find without an index: what a search means, said once more."""
    sought = sought_in(search)
    return [each.pk for each in records if not search.strip() or matches(sought, texts(each))]


def walk(find: Callable[..., Any], user: Any, *, limit: int, **page: Any) -> list[UUID]:
    """Follow the cursors to the end; no page is too long, and every cursor leads on."""
    found: list[UUID] = []
    cursors: list[UUID | None] = [None]
    while True:
        records, cursor = find(user, PageRequest(after=cursors[-1], limit=limit, **page))
        assert len(records) <= limit
        found += [record.pk for record in records]
        if cursor is None:
            return found
        assert cursor not in cursors
        cursors.append(cursor)


@pytest.fixture
def everybody(company):
    """A person who sees all customers."""
    return make_staff()


@pytest.fixture
def manager(company):
    """A person who sees their own customers."""
    return UserFactory.create()


@pytest.fixture
def corpus(everybody, manager) -> Random:
    """Odd names and references; customers that were renamed meanwhile, and inactive ones."""
    random = Random(7)  # noqa: S311  no secret
    customers = [CustomerFactory.create(name=make_text(random, 3)) for _ in range(CUSTOMERS)]
    manager.managed_customers.set(customers[::3])
    for number in range(DOCUMENTS):
        make = make_issued if number % 3 else make_draft
        customer = random.choice(customers)
        make(user=everybody, customer=customer, reference=make_text(random, 2))
    for customer in customers[::2]:
        change_customer(customer.pk, name=make_text(random, 3))
    for customer in customers[::5]:
        change_customer(customer.pk, is_active=False)
    return random


def make_searches(random: Random) -> list[str]:
    made = [make_text(random, random.randint(1, 3)) for _ in range(SEARCHES)]
    # Beginnings, and what begins no word.
    return ["", " ", "-", "inv", "2026 a", *made, *(each[:1] for each in made[:10]), "東京商 an"]


def test_documents_are_found_as_if_each_was_compared(corpus, everybody, manager):
    searches = make_searches(corpus)
    matched = 0
    for user, newest_first in product((everybody, manager), (False, True)):
        order = "-id" if newest_first else "id"
        documents = list(
            Document.objects.visible_to(user).select_related("customer").order_by(order)
        )
        for search, limit in zip(searches, cycle((2, 5, 30)), strict=False):
            expected = compare_all(documents, texts_of_document, search)
            page: dict[str, Any] = {"search": search, "newest_first": newest_first}
            assert walk(find_documents, user, limit=limit, **page) == expected, page
            matched += len(expected)
    assert matched > 500


def test_customers_are_found_as_if_each_was_compared(corpus, everybody, manager):
    matched = 0
    for user in (everybody, manager):
        active = list(Customer.objects.visible_to(user).filter(is_active=True).order_by("id"))
        for search in make_searches(corpus):
            expected = compare_all(active, texts_of_customer, search)
            assert walk(find_customers, user, search=search, limit=3) == expected, search
            matched += len(expected)
    assert matched > 100


def test_the_documents_of_one_status_are_found_among_all(corpus, everybody, manager):
    for user, status, search in product(
        (everybody, manager), DocumentStatus, ("", "an", "2026", "an 2026")
    ):
        documents = (
            Document.objects.visible_to(user).select_related("customer").filter(status=status)
        )
        expected = compare_all(documents.order_by("id"), texts_of_document, search)
        find = partial(find_documents, status=status)
        assert walk(find, user, search=search, limit=4) == expected, (status, search)


@pytest.mark.parametrize("at_once", [table.CUSTOMERS_PER_STATEMENT, 70])
def test_a_user_with_very_many_customers_of_their_own_walks_them_all(manager, monkeypatch, at_once):
    monkeypatch.setattr(table, "CUSTOMERS_PER_STATEMENT", at_once)
    customers = create_customers(CustomerFactory.build_batch(LISTS_PER_STATEMENT + 5))
    manager.managed_customers.set(customers)
    some = [*customers[-1:], *customers[::40], *customers[:1], *customers[-2:]]
    documents = [make_draft(customer=customer, reference="here").pk for customer in some]
    make_draft(reference="here")
    for search in ("here", ""):
        assert walk(find_documents, manager, search=search, limit=2) == documents
        newest = walk(find_documents, manager, search=search, limit=2, newest_first=True)
        assert newest == documents[::-1]


def test_customers_whom_the_table_names_alike_stay_apart(manager, monkeypatch):
    monkeypatch.setattr(table, "key_of_customer", lambda _: b"same")
    own, foreign = create_customers(CustomerFactory.build_batch(2, name="Acme"))
    manager.managed_customers.set([own])
    documents = [make_draft(customer=each, reference="here").pk for each in (foreign, own) * 3]
    for search in ("", "here", "here acme"):
        assert walk(find_documents, manager, search=search, limit=2) == documents[1::2]
    assert walk(find_customers, manager, search="acme", limit=1) == [own.pk]


def make_many(count: int, *, references: Callable[[int], str]) -> list[Document]:
    CompanyFactory.create()
    author, customer = make_staff(), CustomerFactory.create(name="Acme")
    drafts = [draft_input(customer, reference=references(place)) for place in range(count)]
    write_documents([NewDocument(author=author, draft=draft) for draft in drafts])
    return list(Document.objects.order_by("id"))


@pytest.fixture
def few_steps(monkeypatch) -> None:
    """Bounds of a tenth, so that tens of documents are very many."""
    monkeypatch.setattr(records, "STEPS_PER_CALL", 40)
    monkeypatch.setattr(records, "_STEPS_AT_ONCE", (4, 6, 30))


def test_a_call_that_finds_nothing_visible_walks_on_to_a_record_that_it_may_name(few_steps):
    customers = create_customers(CustomerFactory.build_batch(90, name="Acme"))
    hidden = [customer.pk for customer in customers[2:80]]
    Customer.objects.filter(pk__in=hidden).update(is_active=False)
    visible = [customers[place].pk for place in (0, 1, *range(80, 90))]

    page = PageRequest(search="acme", limit=2, after=visible[0])
    found, cursor = find_customers(make_staff(), page)
    assert [customer.pk for customer in found] == [visible[1], visible[2]]
    assert cursor == visible[2]
    assert walk(find_customers, make_staff(), search="acme", limit=3) == visible


def test_a_record_that_has_several_forms_of_a_word_is_found_once(manager, monkeypatch):
    monkeypatch.setattr(table, "LISTS_PER_STATEMENT", 4)
    customers = create_customers(CustomerFactory.build_batch(7, name="Coca-Cola"))
    manager.managed_customers.set(customers)
    for reference in ("Müll Muell", "cola", "coca", "cocacola"):
        for customer in customers:
            make_draft(customer=customer, reference=reference)
    documents = list(Document.objects.order_by("id").values_list("pk", flat=True))
    for user, newest_first in product((manager, make_staff()), (False, True)):
        for search, expected in (("coca-cola", documents), ("u-müll", []), ("müll", documents[:7])):
            found = walk(find_documents, user, search=search, limit=3, newest_first=newest_first)
            assert found == (expected[::-1] if newest_first else expected), search


def test_a_row_that_nobody_removed_shows_nothing(few_steps):
    documents = make_many(30, references=lambda _: "former")
    Document.objects.all().update(reference="other")
    assert walk(find_documents, make_staff(), search="former", limit=5) == []
    Document.objects.filter(pk=documents[0].pk).update(reference="former again")
    assert walk(find_documents, make_staff(), search="former", limit=5) == [documents[0].pk]


def test_a_word_of_hidden_documents_takes_no_other_way_than_one_of_none(manager):
    own, foreign = create_customers(CustomerFactory.build_batch(2))
    manager.managed_customers.set([own])
    make_draft(customer=own, reference="common")
    make_draft(customer=foreign, reference="common hidden")
    manager.has_perm("any")
    ways = []
    for word in ("hidden", "absent"):
        with CaptureQueriesContext(connection) as captured:
            page = PageRequest(search=f"common {word}", limit=25)
            assert find_documents(manager, page) == ([], None)
        ways.append(len(captured))
    assert ways[0] == ways[1]


@pytest.mark.parametrize("newest_first", [False, True], ids=["oldest", "newest"])
@pytest.mark.parametrize("search", ["", "acme", "n250", "acme common", "acme n250 common"])
def test_no_search_reads_a_whole_table_or_sorts_all_that_has_a_word(
    monkeypatch, search, newest_first
):
    # Of fewer rows than are counted PostgreSQL may well take all.
    monkeypatch.setattr(records, "_COUNTED", 50)
    documents = make_many(400, references=lambda n: f"common n{n}")
    manager = UserFactory.create()
    manager.managed_customers.set(Customer.objects.all())
    gather_statistics()
    after = documents[300 if newest_first else 100].pk
    page = PageRequest(search=search, after=after, limit=25, newest_first=newest_first)
    for user in (make_staff(), manager):
        if search or user == manager:
            plan = plans_of(partial(find_documents, user, page), where=TABLE)
            # The rows of a rare word are few, whoever's they are, and either index gives them.
            is_rare = "n250" in search
            walks = [
                "Index Only Scan",
                "USING COVERING INDEX",
                *(["Index Scan"] if is_rare else []),
            ]
            assert any(walk in plan for walk in walks)
            assert f"Seq Scan on {TABLE}" not in plan
            assert f"SCAN {TABLE}" not in plan
            assert "Bitmap" not in plan
            assert is_rare or "Filter: (customer" not in plan
