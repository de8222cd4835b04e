"""The book of documents, which may hold a million: the newest are shown, words find the others."""

import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agent_access.admin import paging
from invoicing.admin import documents
from invoicing.models import DocumentType
from tests.factories import CustomerFactory, TeamFactory, make_draft, make_issued
from tests.web.forms import main_of

pytestmark = pytest.mark.django_db

LIST = "/admin/invoices/document/"


@pytest.fixture
def browser(company, sign_in, superuser):
    return sign_in(superuser)


def listed(browser, **query: object) -> list[str]:
    """Return what the rows call their documents, from the first to the last."""
    page = main_of(browser.get(LIST, query))
    return re.findall(r"/change/[^>]*>([^<]+)</a>", page)


def test_a_long_list_is_never_counted_to_its_end(browser, monkeypatch):
    monkeypatch.setattr(paging, "MAX_ROWS", 5)
    monkeypatch.setattr(documents.DocumentAdmin, "list_per_page", 2)
    made = [make_draft().draft_code for _ in range(6)]
    with CaptureQueriesContext(connection) as captured:
        page = main_of(browser.get(LIST))
    counts = [each["sql"] for each in captured if "COUNT(*)" in each["sql"]]
    assert ["LIMIT 5" in sql for sql in counts] == [True]
    assert "These are the newest; there are more." in page
    assert listed(browser, p=3) == [made[1]]
    assert browser.get(f"{LIST}?p=4").status_code == 302


def test_a_short_list_says_nothing_of_more(browser):
    draft = make_draft()
    assert listed(browser) == [draft.draft_code]
    assert "there are more" not in main_of(browser.get(LIST))


def test_nothing_is_sorted_that_no_index_knows(browser):
    made = [make_draft(reference=reference).draft_code for reference in "bac"]
    assert all(listed(browser, o=column) == made[::-1] for column in range(1, 8))


def test_documents_are_found_by_the_words_that_find_them_elsewhere(browser, monkeypatch):
    bros = CustomerFactory.create(name="Café Bros")
    first, second = (make_issued(customer=bros, reference=word) for word in ("summer", "winter"))
    draft = make_draft(customer=bros)
    make_draft()
    assert listed(browser, q="cafe") == [draft.draft_code, second.number, first.number]
    assert listed(browser, q="cafe", status__exact="issued") == [second.number, first.number]
    assert listed(browser, q="bros summer") == [first.number]
    assert listed(browser, q=str(second.number)) == [second.number]
    assert listed(browser, q=draft.draft_code) == [draft.draft_code]
    assert listed(browser, q="-") == []


def test_a_search_that_finds_very_many_says_that_it_stopped(browser, monkeypatch):
    monkeypatch.setattr(documents, "FOUND_AT_MOST", 2)
    said = "The search stopped at the newest."
    draft = make_draft(reference="a")
    make_issued(reference="a")
    search = {"q": "a"}
    assert len(listed(browser, **search)) == 2
    assert said not in main_of(browser.get(LIST, search))
    make_issued(reference="a")
    assert draft.draft_code not in listed(browser, **search)
    assert said in main_of(browser.get(LIST, search))
    # A filter leaves out some of those that were found.
    assert listed(browser, **search, status__exact="draft") == []
    assert said in main_of(browser.get(LIST, {**search, "status__exact": "draft"}))


def test_a_filter_looks_at_the_newest_and_says_so(browser, monkeypatch):
    monkeypatch.setattr(paging, "SEARCHED_ROWS", 2)
    note = make_draft(document_type=DocumentType.CREDIT_NOTE)
    issued, draft = make_issued(), make_draft()
    credit_notes = {"type__exact": "credit_note"}
    assert listed(browser, status__exact="issued") == [issued.number]
    assert listed(browser, **credit_notes) == []
    said = "The filter looked at the newest 2 of them."
    assert said in main_of(browser.get(LIST, credit_notes))
    # Those that a search finds are few.
    assert listed(browser, **credit_notes, q=note.draft_code) == [note.draft_code]
    assert said not in main_of(browser.get(LIST))
    assert listed(browser) == [draft.draft_code, issued.number, note.draft_code]


def test_a_time_names_its_zone_where_pages_of_people_have_their_own(browser):
    """The page of a document may say the next day already."""
    issued = make_issued(issued_at=datetime(2026, 3, 1, 23, 30, 5, tzinfo=UTC))
    TeamFactory.create(archived_at=datetime(2026, 12, 31, 0, 0, tzinfo=UTC))
    page = main_of(browser.get(f"{LIST}{issued.pk}/change/"))
    assert page.count(">2026-03-01 23:30 UTC<") == 2  # issued and last changed then
    assert ">2026-12-31 00:00 UTC<" in main_of(browser.get("/admin/invoices/team/"))
