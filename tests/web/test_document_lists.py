"""The list of documents: its tabs, filters, orders and totals, each within the reader's reach."""

from datetime import date
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from invoicing.access import EXPORT_PERMISSIONS, Permission
from invoicing.document_lists import by_customer, pages, selection
from invoicing.document_lists.filters import Filters, Tab
from invoicing.document_lists.orders import Order
from invoicing.document_lists.pages import Sorting, find_sorted
from invoicing.document_lists.selection import Selected
from invoicing.document_lists.summary import Total, summarize
from invoicing.models import Document, DocumentType, User
from invoicing.money import MAX_AMOUNT
from tests.factories import (
    CustomerFactory,
    UserFactory,
    line_input,
    make_connection_ref,
    make_draft,
    make_issued,
    make_staff,
)
from tests.web.forms import main_of

NIGHT = make_connection_ref("Night agent")


def money(amount: int) -> tuple[Any, ...]:
    return (line_input(quantity=10_000, unit_price=amount),)


@pytest.fixture
def manager(company) -> User:
    """Somebody who sees Acme's documents alone."""
    return UserFactory.create(name="Mara", permissions=[Permission.VIEW_DOCUMENT])


@pytest.fixture
def books(company, manager) -> list[Document]:
    """Documents of two customers: the manager sees those of Acme."""
    acme = CustomerFactory.create(name="Acme Ltd", account_managers=[manager])
    zeta = CustomerFactory.create(name="Zeta Inc")
    mara = {"user": manager, "customer": acme}
    return [
        make_issued(**mara, lines=money(30_000), issue_date=date(2026, 1, 5)),
        make_issued(customer=zeta, lines=money(10_000), issue_date=date(2026, 2, 5)),
        make_issued(**mara, lines=money(700), currency_code="JPY", connection=NIGHT),
        make_draft(customer=zeta, lines=money(20_000), connection=NIGHT),
        make_draft(**mara, lines=money(5_000)),
        make_issued(**mara, lines=money(1_000), document_type=DocumentType.CREDIT_NOTE),
        make_draft(customer=zeta, lines=money(90_000), currency_code="USD"),
    ]


def listed(browser: Any, **query: str) -> list[str]:
    """Return the documents of a page of the list, in its order."""
    answer = browser.get(f"/documents?{urlencode(query)}")
    assert answer.status_code == 200
    return [str(each) for each in answer.context["listing"].records]


def counts_of(browser: Any, **query: str) -> dict[str, str]:
    answer = browser.get(f"/documents?{urlencode(query)}")
    return {label: count for _, label, count, _ in answer.context["tabs"]}


def totals_of(browser: Any, **query: str) -> list[str]:
    totals: list[str] = browser.get(f"/documents?{urlencode(query)}").context["totals"]
    return totals


@pytest.fixture
def reader(company, sign_in):
    return sign_in(make_staff(Permission.VIEW_DOCUMENT, Permission.VIEW_PERSON))


@pytest.fixture
def mara(sign_in, manager):
    return sign_in(manager)


def test_each_tab_says_how_many_it_has(reader, books):
    assert counts_of(reader) == {
        "All": "7",
        "Waiting": "0",
        "Drafts": "3",
        "Issued": "4",
        "Credit notes": "1",
    }


def test_two_people_count_and_add_up_what_each_may_see(reader, mara, books):
    assert counts_of(mara) == {
        "All": "4",
        "Waiting": "0",
        "Drafts": "1",
        "Issued": "3",
        "Credit notes": "1",
    }
    assert totals_of(mara) == ["€340.00", "¥700"]
    assert totals_of(reader) == ["€640.00", "¥700", "$900.00"]
    assert totals_of(mara, status="issued") == ["€290.00", "¥700"]
    assert totals_of(mara, currency_code="USD") == []
    assert counts_of(mara, writer=str(NIGHT.connection_id))["All"] == "1"
    assert counts_of(reader, writer=str(NIGHT.connection_id))["All"] == "2"


def test_the_largest_amounts_of_a_list_are_added_up_exactly(reader):
    for _ in range(12):
        make_draft(lines=money(MAX_AMOUNT))
    assert totals_of(reader) == ["€119,999,999,999,999,999.88"]


def test_a_filter_by_what_a_person_may_not_see_finds_and_names_nothing(mara, books):
    hidden = books[1]
    answer = mara.get(f"/documents?customer={hidden.customer_id}")
    assert answer.context["listing"].records == []
    assert answer.context["totals"] == []
    assert {count for _, _, count, _ in answer.context["tabs"]} == {"0"}
    assert "Zeta" not in main_of(answer)
    assert "Customer: one that you may not see" in main_of(answer)
    author = mara.get(f"/documents?writer={hidden.created_by_id}")
    assert author.context["listing"].records == []
    assert hidden.created_by.name not in main_of(author)


def test_the_name_of_an_agent_is_told_to_whoever_sees_a_document_of_it(sign_in, mara, books):
    nobody = sign_in(UserFactory.create(permissions=[Permission.VIEW_DOCUMENT]))
    query = f"/documents?writer={NIGHT.connection_id}"
    assert "Written by: Night agent" in main_of(mara.get(query))
    assert "Written by: one agent" in main_of(nobody.get(query))


def test_each_filter_narrows_the_list(reader, manager, books):
    january, zeta, yen, by_agent, draft, credit, dollars = map(str, books)
    acme = str(books[0].customer_id)
    for query, found in [
        ({"customer": acme}, {january, yen, draft, credit}),
        ({"writer": str(NIGHT.connection_id)}, {yen, by_agent}),
        ({"connection": str(NIGHT.connection_id)}, {yen, by_agent}),
        ({"writer": str(manager.pk)}, {january, draft, credit}),
        ({"writer": "agent"}, {yen, by_agent}),
        ({"writer": "person", "currency_code": "USD"}, {dollars}),
        ({"first_day": "2026-01-05", "last_day": "2026-02-05"}, {january, zeta}),
        ({"last_day": "2026-01-05"}, {january}),
        ({"currency_code": "JPY"}, {yen}),
        ({"currency_code": "EUR", "least": "100", "most": "200.00"}, {zeta, by_agent}),
        ({"status": "credit-notes"}, {credit}),
        ({"status": "draft", "customer": acme}, {draft}),
        ({"status": "issued", "search": "zeta"}, {zeta}),
        ({"search": "acme", "currency_code": "JPY"}, {yen}),
    ]:
        assert set(listed(reader, **query)) == found, query


def test_the_list_is_sorted_by_each_column_both_ways(reader, books):
    january, zeta, yen, by_agent, draft, credit, dollars = map(str, books)
    newest = [dollars, credit, draft, by_agent, yen, zeta, january]
    assert listed(reader) == newest
    assert listed(reader, sort="nonsense") == newest
    by_day = listed(reader, sort="date")
    assert by_day[:2] == [january, zeta]
    assert listed(reader, sort="-date") == by_day[::-1]
    by_total = [credit, draft, zeta, by_agent, january, yen, dollars]
    assert listed(reader, sort="total") == by_total
    assert listed(reader, sort="-total") == by_total[::-1]
    by_customer = [january, yen, draft, credit, zeta, by_agent, dollars]
    assert listed(reader, sort="customer") == by_customer
    assert listed(reader, sort="-customer") == by_customer[::-1]
    # What has no number comes last, whichever way.
    assert listed(reader, sort="number") == [january, zeta, yen, credit, by_agent, draft, dollars]
    assert listed(reader, sort="-number") == [credit, yen, zeta, january, dollars, draft, by_agent]


def read_all(selected: Selected, sorting: Sorting) -> list[Document]:
    """Return all pages of two documents, one after the other."""
    found, cursor = find_sorted(selected, sorting, 2)
    while cursor:
        next_page = Sorting(order=sorting.order, is_descending=sorting.is_descending, after=cursor)
        more, cursor = find_sorted(selected, next_page, 2)
        found += more
    return found


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("is_descending", [True, False])
@pytest.mark.parametrize("sees", ["all", "some"])
def test_a_list_too_long_to_sort_has_the_same_order(
    monkeypatch, manager, books, order, is_descending, sees
):
    user = manager if sees == "some" else make_staff(Permission.VIEW_DOCUMENT)
    sorting = Sorting(order=order, is_descending=is_descending)
    for filters in (Filters(), Filters(currency_code="EUR"), Filters(last_day=date(2026, 2, 5))):
        for tab in (Tab.ALL, Tab.DRAFTS, Tab.ISSUED, Tab.CREDIT_NOTES):
            monkeypatch.setattr(selection, "MOST_READ", 10_000)
            sorted_at_once = read_all(Selected(user, filters, tab), sorting)
            monkeypatch.setattr(selection, "MOST_READ", 0)
            monkeypatch.setattr(pages, "STEP", 2)
            monkeypatch.setattr(pages, "STEP_IN_REACH", 2)
            walked = read_all(Selected(user, filters, tab), sorting)
            assert walked == sorted_at_once, (filters, tab)


def test_a_cursor_of_a_long_list_never_names_a_hidden_document(monkeypatch, manager, books):
    monkeypatch.setattr(selection, "MOST_READ", 0)
    monkeypatch.setattr(pages, "STEP_IN_REACH", 1)
    visible = set(Document.objects.visible_to(manager).values_list("pk", flat=True))
    selected = Selected(manager, Filters(currency_code="EUR"))
    for order in (Order.DAY, Order.TOTAL, Order.NUMBER, Order.CUSTOMER):
        cursor, cursors = None, []
        while True:
            _, cursor = find_sorted(selected, Sorting(order=order, after=cursor), 1)
            if cursor is None:
                break
            cursors.append(cursor)
        assert set(cursors) <= visible
        assert cursors


@pytest.mark.parametrize("most", [0, 3])
def test_what_a_person_may_not_see_shapes_nothing_of_their_lists(
    monkeypatch, manager, mara, books, most
):
    monkeypatch.setattr(selection, "MOST_READ", most)
    monkeypatch.setattr("invoicing.document_lists.summary.MOST_READ", most)
    monkeypatch.setattr(pages, "STEP_IN_REACH", 2)
    monkeypatch.setattr(by_customer, "CUSTOMERS_IN_REACH", 1)
    hidden, seen = books[1], books[0]
    queries: list[dict[str, str]] = [
        {},
        {"status": "draft", "sort": "customer"},
        {"status": "issued", "sort": "-number"},
        {"status": "credit-notes", "sort": "date"},
        {"customer": str(hidden.customer_id)},
        {"customer": str(hidden.customer_id), "sort": "customer"},
        {"customer": str(seen.customer_id), "currency_code": "JPY", "sort": "-total"},
        {"writer": str(NIGHT.connection_id)},
        {"writer": str(NIGHT.connection_id), "status": "draft", "sort": "date"},
        {"writer": "agent", "last_day": "2026-02-05", "sort": "-customer"},
        {"writer": str(hidden.created_by_id), "sort": "total"},
        {"currency_code": "USD", "sort": "-date"},
    ]

    def shown() -> list[Any]:
        answers = [mara.get(f"/documents?{urlencode(query)}") for query in queries]
        return [
            (
                [str(each) for each in answer.context["listing"].records],
                answer.context["listing"].next_href,
                [count for _, _, count, _ in answer.context["tabs"]],
                answer.context["totals"],
                answer.context["count"],
            )
            for answer in answers
        ]

    before = shown()
    for number in range(3):
        other = CustomerFactory.create(name=f"Beta {number}")
        for made in (make_issued, make_draft):
            made(customer=other, connection=NIGHT, currency_code="USD", lines=money(9))
            made(customer=hidden.customer, user=hidden.created_by, lines=money(9))
        make_issued(customer=other, document_type=DocumentType.CREDIT_NOTE)
    assert shown() == before


def test_a_list_by_customer_passes_customers_without_documents_in_steps(monkeypatch, books):
    monkeypatch.setattr(selection, "MOST_READ", 0)
    monkeypatch.setattr(by_customer, "CUSTOMERS_PER_STEP", 2)
    monkeypatch.setattr(by_customer, "DOCUMENTS_PER_STEP", 2)
    monkeypatch.setattr(by_customer, "DOCUMENTS_EACH", 1)
    for number in range(5):
        CustomerFactory.create(name=f"Middle {number}")
    sees_all = make_staff(Permission.VIEW_DOCUMENT)
    for is_descending in (False, True):
        for tab in (Tab.ALL, Tab.DRAFTS, Tab.CREDIT_NOTES):
            sorting = Sorting(order=Order.CUSTOMER, is_descending=is_descending)
            walked = read_all(Selected(sees_all, tab=tab), sorting)
            monkeypatch.setattr(selection, "MOST_READ", 10_000)
            assert walked == read_all(Selected(sees_all, tab=tab), sorting)
            assert walked
            monkeypatch.setattr(selection, "MOST_READ", 0)


@pytest.mark.postgresql  # the other database prepares nothing
def test_lists_are_planned_for_what_each_leaves(manager, books):
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"

    def count() -> int:
        with database.cursor() as cursor:
            cursor.execute(prepared, ["%ORDER BY%invoices_document%"])
            [found] = cursor.fetchone()
        return int(found)

    before = count()
    for _ in range(3):
        selected = Selected(manager, Filters(currency_code="EUR"), Tab.DRAFTS)
        find_sorted(selected, Sorting(order=Order.TOTAL), 2)
        summarize(selected)
    assert count() == before


def test_a_hidden_cursor_is_like_one_that_names_nothing(mara, books):
    hidden = str(books[1].pk)
    assert listed(mara, sort="total", after=hidden) == listed(mara, sort="total")


def test_of_a_long_list_only_what_is_cheap_is_counted(monkeypatch, manager, books):
    sees_all = make_staff(Permission.VIEW_DOCUMENT)
    monkeypatch.setattr(selection, "MOST_READ", 3)
    monkeypatch.setattr("invoicing.document_lists.summary.MOST_READ", 3)
    monkeypatch.setattr("invoicing.document_lists.summary._MANY", 4)
    whole = summarize(Selected(sees_all))
    assert whole.counts == {
        Tab.ALL: 4,
        Tab.DRAFTS: 3,
        Tab.ISSUED: 4,
        Tab.CREDIT_NOTES: 1,
        Tab.WAITING: 0,
    }
    assert whole.totals is None
    credit_notes = summarize(Selected(sees_all, tab=Tab.CREDIT_NOTES))
    assert credit_notes.totals == [Total("EUR", 2, -1_000)]
    euros = summarize(Selected(sees_all, Filters(currency_code="EUR")))
    assert (euros.counts[Tab.ALL], euros.counts[Tab.ISSUED]) == (4, None)
    assert euros.counts[Tab.DRAFTS] == 2
    assert euros.totals is None


def test_what_waits_says_how_much_time_is_left(prepared, desk):
    other = make_draft(customer=prepared.document.customer)
    text = main_of(desk.get("/documents"))
    assert text.count("Waiting for you") == 1
    assert 'data-seconds-left="540">9 min 0 s' in text
    assert counts_of(desk)["Waiting"] == "1"
    assert listed(desk, status="waiting") == [str(prepared.document)]
    assert str(other) in listed(desk)


def test_what_waits_for_somebody_else_does_not_wait(prepared, reader):
    assert "Waiting for you" not in main_of(reader.get("/documents"))
    assert listed(reader, status="waiting") == []
    nothing = main_of(reader.get("/documents?status=waiting"))
    assert "Nothing is waiting for you." in nothing


def test_an_empty_list_says_what_comes_next_to_each(reader, writer_desk, mara):
    write = '<a href="/documents/new">Write an invoice</a>'
    of_writer = main_of(writer_desk.get("/documents"))
    assert "There are no invoices yet." in of_writer
    assert write in of_writer
    of_reader = main_of(reader.get("/documents"))
    assert "There are no invoices yet." in of_reader
    assert write not in of_reader
    of_mara = main_of(mara.get("/documents"))
    assert "There are no documents that you may see." in of_mara
    assert "whose account manager you are" in of_mara


def test_of_what_was_not_found_only_some_are_told_that_they_may_not_see_it(reader, mara, books):
    for query, all_see, some_see in [
        ("status=draft&currency_code=CHF", "No draft was", "No draft that you may see was"),
        ("search=nobody", "Nothing was found", "Nothing that you may see was found"),
    ]:
        of_reader, of_mara = (
            main_of(browser.get(f"/documents?{query}")) for browser in (reader, mara)
        )
        assert all_see in of_reader
        assert "may see" not in of_reader
        assert some_see in of_mara
    assert 'href="?status=draft">Remove all filters' in main_of(
        mara.get("/documents?status=draft&currency_code=CHF")
    )


def test_links_keep_what_is_chosen(reader, books):
    acme = str(books[0].customer_id)
    text = main_of(reader.get(f"/documents?customer={acme}&status=issued&sort=-total"))
    assert f'href="?status=draft&amp;customer={acme}&amp;sort=-total"' in text
    assert f'href="?status=issued&amp;customer={acme}&amp;sort=total"' in text
    assert 'href="?status=issued&amp;sort=-total">Remove' in text
    assert 'href="?status=issued">Remove all filters' in text
    assert 'aria-sort="descending"' in text


def test_a_customer_is_chosen_by_a_search_without_scripts(company, sign_in, books):
    browser = sign_in(make_staff(Permission.VIEW_DOCUMENT, Permission.VIEW_CUSTOMER))
    text = main_of(browser.get("/documents?find_customer=acm&status=issued"))
    assert f'href="?status=issued&amp;customer={books[0].customer_id}">Acme Ltd' in text
    assert "No customer was found for “nobody”" in main_of(
        browser.get("/documents?find_customer=nobody")
    )


def test_who_may_not_look_customers_up_finds_none_by_a_filter(reader, books):
    text = main_of(reader.get("/documents?find_customer=acm"))
    assert "Customers found" not in text
    assert "customer=" not in text


HOSTILE = [
    "customer=x&writer=y&currency_code=ZZZ&first_day=yesterday&last_day=2026-13-45",
    "customer=0190f1f0-0000-7000-8000-00000000000a&writer=0190f1f0-0000-7000-8000-00000000000b",
    f"currency_code=EUR&least={MAX_AMOUNT}9999&most=-1",
    "currency_code=EUR&least=1.500&most=" + "9" * 400,
    "least=5",
    "first_day=0001-01-01&last_day=9999-12-31",
    "first_day=2026-02-01&last_day=2026-01-01",
    "currency_code=EUR&least=5&most=4",
    "sort=--total&status=%00&search=%00&find_customer=%00",
    "customer=%00&writer=%00&currency_code=%00&least=%00&first_day=%00",
    "sort=total&after=0190f1f0-0000-7000-8000-000000000000",
    "sort=number&sort=total&status=draft&status=issued&currency_code=EUR&currency_code=USD",
    "search=" + "%F0%9F%92%A9" * 200 + "&sort=customer",
    "currency_code=BHD&least=1%C2%A0000&most=%D9%A1",
]


@pytest.mark.parametrize("query", HOSTILE)
def test_a_hostile_address_gives_a_list_or_a_sentence(reader, mara, books, query):
    for browser in (reader, mara):
        assert browser.get(f"/documents?{query}").status_code == 200


def test_a_filter_that_was_not_understood_is_told_and_narrows_nothing(reader, books):
    for query, told in [
        ("least=5", "Choose a currency as well"),
        ("currency_code=EUR&least=1.500", "This can be read in two ways."),
        ("first_day=2026-02-01&last_day=2026-01-01", "The last day comes before the first."),
        ("first_day=26-02-01", "Issued from: Enter a valid date."),
    ]:
        answer = reader.get(f"/documents?{query}")
        assert told in main_of(answer), query
    assert len(listed(reader, least="5")) == len(books)


@pytest.mark.parametrize("query", ["", "sort=total", "sort=customer&currency_code=EUR"])
def test_the_number_of_queries_does_not_depend_on_the_number_of_rows(reader, books, query):
    def count() -> int:
        with CaptureQueriesContext(database) as queries:
            reader.get(f"/documents?{query}")
        return len(queries)

    count()  # fills what is cached by the process
    few = count()
    for number in range(12):
        make_issued(customer=CustomerFactory.create(name=f"More {number}"), connection=NIGHT)
    assert count() == few


def test_an_export_takes_the_filters_of_the_list(sign_in, books):
    browser = sign_in(
        make_staff(*EXPORT_PERMISSIONS, Permission.VIEW_PERSON, Permission.VIEW_CUSTOMER)
    )
    query = urlencode(
        {
            "customer": str(books[0].customer_id),
            "writer": str(NIGHT.connection_id),
            "first_day": "2026-01-01",
            "currency_code": "JPY",
            "least": "500",
        }
    )
    href = browser.get(f"/documents?{query}").context["export_href"]
    form = browser.get(href)
    text = main_of(form)
    assert "of Acme Ltd, written by Night agent, that you may see" in text
    for field in ('name="least" value="500"', 'name="first_day" value="2026-01-01"'):
        assert field in text
    sent = {"kind": "documents", "first_day": "2026-01-01", "last_day": "2026-12-31"}
    everything = b"".join(browser.post("/exports", sent)).decode()
    assert everything.count("INV-2026-") >= 3
    narrowed = {**sent, "writer": str(NIGHT.connection_id), "currency_code": "JPY", "least": "500"}
    rows = b"".join(browser.post("/exports", narrowed)).decode().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == [str(books[2])]
    none = browser.post("/exports", {**narrowed, "least": "701"})
    assert none.status_code == 422
    assert browser.post("/exports", {**sent, "writer": "somebody"}).status_code == 404
