"""What a search finds in each kind of record: every word begins a word, however it is written."""

from itertools import cycle
from typing import Any

import pytest
from django.db import connection

from invoicing.models import DocumentType, NumberFormat, NumberSeries, Skill
from invoicing.search import records
from invoicing.services.customers import change_customer, create_customers
from tests.factories import CustomerFactory, TeamFactory, UserFactory, make_draft, make_issued
from tests.interface.calls import walk
from tests.interface.refusals import invalid, seen
from tests.tool_table import LISTS
from tests.typed_searches import TYPED

pytestmark = pytest.mark.usefixtures("many_calls")

NAMED = ("customers.search", "people.list", "teams.list")

ACME = "Acme 2000 Ltd"
MUELLER = "Müller & Söhne GmbH"
LODZ = "Łódź-Works"
STREET = "Alte Straße KG"
TOKYO = "東京商事株式会社"
ONEILL = "O'Neill Bros."
CAFE_APART = "Cafe\u0301 Noir"  # the accent as a character of its own
ALL = [ACME, MUELLER, LODZ, STREET, TOKYO, ONEILL, CAFE_APART]


def names(agent, tool, search):
    body = agent.call(tool, {"search": search}).body
    assert body["next"] is None
    return [record["name"] for record in body["data"]]


FOUND = {
    ("acme", "ACME ltd", "ltd acme", "ac l", "2000", "20", "ＡＣＭＥ"): [ACME],  # noqa: RUF001  full-width letters are the subject
    ("muller", "MÜLLER sohne", "Müller&Söhne", "mueller"): [MUELLER],
    ("lodz", "works", "łódź-wo"): [LODZ],
    ("strasse", "STRASSE", "straße"): [STREET],
    ("東京", "商事", "会社 東京"): [TOKYO],
    ("neill", "o'neill", "oneill", "o\u2019neill", "oneil bro"): [ONEILL],
    ("café", "cafe"): [CAFE_APART],
    ("", "   ", "\t\u00a0"): ALL,
    ("000", "cme", "acme gmbh", "muellers", "京都", "onell"): [],
    ("&", "!?%_*", "%", "🙂", "a" * 100): [],
}


def test_customers_are_found_by_their_names(agent):
    for name in ALL:
        CustomerFactory.create(name=name)
    for searches, found in FOUND.items():
        for search in searches:
            assert names(agent, "customers.search", search) == found, search


@pytest.mark.requirement("limit.search")
@pytest.mark.parametrize("tool", LISTS)
def test_a_search_over_100_characters_is_named(agent, tool):
    answer = agent.call(tool, {"search": "é" * 101})
    assert seen(answer) == invalid(("search", "must have at most 100 characters"))
    assert agent.call(tool, {"search": "é" * 100}).body == {"data": [], "next": None}


@pytest.mark.requirement("customer.result", "tool.customers_search")
def test_a_customer_is_an_id_and_a_name_and_an_inactive_one_is_not_found(agent):
    active = CustomerFactory.create(name="Acme One")
    CustomerFactory.create(name="Acme Two", is_active=False)
    expected = {"data": [{"id": str(active.id), "name": "Acme One"}], "next": None}
    assert agent.call("customers.search", {"search": "acme"}).body == expected
    assert agent.call("customers.search").body == expected


def documents_found(agent, search):
    body = agent.call("documents.list", {"search": search}).body
    assert body["next"] is None
    return [record["id"] for record in body["data"]]


def test_documents_are_found_by_number_code_reference_and_customer(agent):
    acme = CustomerFactory.create(name="Acme Ltd")
    issued = make_issued(customer=acme, reference="PO 4711/B")
    draft = make_draft(customer=CustomerFactory.create(name="Zeta Ltd"), notes="hidden words")
    first, second = str(issued.id), str(draft.id)

    code = draft.draft_code.removeprefix("D-").lower()
    found = {
        ("INV-2026-0001", "0001", "inv 0001 acme", issued.draft_code): [first],
        ("po4711", "po471", "4711"): [first],
        (draft.draft_code, code, "zeta"): [second],
        ("ltd",): [first, second],
        ("001", "4711po", "hidden", "consulting", "?"): [],
    }
    for searches, documents in found.items():
        for search in searches:
            assert documents_found(agent, search) == documents, search


NUMBERS = {
    "INV-2026-0085": ("85", "#85", "2026-85", "INV 85", "inv-85", "INV20260085"),
    "INV-2026-0086": ("PO4711", "po-4711", "po 4711/2026"),
}


def begin_series(document_type: DocumentType, *, at: int) -> None:
    NumberSeries.objects.create(type=document_type, year=2026, last_value=at - 1)


def numbers_found(agent, search) -> list[str]:
    return [each["number"] for each in agent.call("documents.list", {"search": search}).data]


def test_a_document_is_found_by_its_number_however_it_is_written(agent):
    begin_series(DocumentType.INVOICE, at=85)
    for reference in ("", "PO-4711/2026"):
        make_issued(customer=CustomerFactory.create(name="Acme"), reference=reference)

    for number, searches in NUMBERS.items():
        assert [numbers_found(agent, each) for each in searches] == [[number]] * len(searches)
    assert numbers_found(agent, "085") == []


def test_85_finds_all_numbers_that_begin_so(agent):
    for document_type, begin in ((DocumentType.INVOICE, 85), (DocumentType.CREDIT_NOTE, 850)):
        begin_series(document_type, at=begin)
        make_issued(customer=CustomerFactory.create(name="Acme"), document_type=document_type)
    assert numbers_found(agent, "85") == ["INV-2026-0085", "CN-2026-0850"]


def test_a_document_is_found_by_a_number_in_a_format_of_the_owners(agent):
    NumberFormat.objects.create(type="invoice", prefix="RE/26.HH_", has_year=False, digits=3)
    make_issued(customer=CustomerFactory.create(name="Acme"))
    for search in ("RE/26.HH_001", "re 26 hh 1", "re/26", "RE26HH001", "26.hh", "1"):
        assert numbers_found(agent, search) == ["RE/26.HH_001"], search


def test_customers_people_and_teams_are_found_by_what_people_type(agent, delegate):
    texts = sorted({text for _, text in TYPED})
    create_customers([CustomerFactory.build(name=text) for text in texts])
    for text in texts:
        UserFactory.create(name=text)
        TeamFactory.create(name=text)
    # One page holds all that any of these searches finds.
    for (search, text), tool in zip(TYPED, cycle(NAMED), strict=False):
        assert text in names(agent, tool, search), (tool, search)


def test_an_issued_document_is_found_by_the_buyers_name_as_it_was_frozen(agent):
    customer = CustomerFactory.create(name="Oldname Ltd")
    issued, draft = make_issued(customer=customer), make_draft(customer=customer)
    change_customer(customer.pk, name="Newname Ltd")

    assert documents_found(agent, "oldname") == [str(issued.id)]
    assert documents_found(agent, "newname") == [str(draft.id)]


def test_people_are_found_by_name_email_title_and_skills(agent, delegate):
    welding, law = (Skill.objects.create(name=name) for name in ("Arc welding", "Contract law"))
    UserFactory.create(
        name="Zoë Sánchez",
        email="zs@halden.example",
        job_title="Head of Repairs",
        skills=[welding, law],
        private_email="secret@private.example",
    )

    for search in ("zoe", "SANCHEZ zoë", "zs", "zs@halden", "repairs", "weld", "law zoe"):
        assert names(agent, "people.list", search) == ["Zoë Sánchez"], search
    for search in ("secret", "oe", "aw", "zoe dana", "utc", "#"):
        assert names(agent, "people.list", search) == [], search
    assert "Zoë Sánchez" in names(agent, "people.list", " ")


def test_teams_are_found_by_name_and_description(agent, delegate):
    TeamFactory.create(name="Service", description="Repairs\nof räder", members=[delegate])
    TeamFactory.create(name="Sales", description="")

    assert names(agent, "teams.list", "s") == ["Service", "Sales"]
    assert names(agent, "teams.list", "rader service") == ["Service"]
    assert names(agent, "teams.list", "sales") == ["Sales"]
    assert names(agent, "teams.list", "dana") == []
    assert names(agent, "teams.list", "eder") == []


def test_a_search_is_walked_like_a_list(agent):
    found = []
    for number in range(7):
        found.append(str(CustomerFactory.create(name=f"Acme {number}").id))
        CustomerFactory.create(name=f"Other {number}")
    pages = walk(agent, "customers.search", search="acme", limit=3)
    assert pages == [found[:3], found[3:6], found[6:]]


def test_a_rare_word_is_found_at_once_among_very_many(agent):
    create_customers(CustomerFactory.build_batch(2100))
    last = CustomerFactory.create(name="Needle")

    found = agent.call("customers.search", {"search": "needle"}).body
    assert found == {"data": [{"id": str(last.id), "name": "Needle"}], "next": None}


def test_words_that_very_many_have_but_none_together_give_a_short_page_that_leads_on(
    agent, monkeypatch
):
    monkeypatch.setattr(records, "STEPS_PER_CALL", 4)
    monkeypatch.setattr(records, "_STEPS_AT_ONCE", (2, 2))
    names = [f"{'Odd' if number % 2 else 'Even'} Ltd" for number in range(20)]
    customers = create_customers([CustomerFactory.build(name=name) for name in names])

    body = agent.call("customers.search", {"search": "odd even"}).body
    assert body["data"] == []
    assert body["next"] in {str(customer.id) for customer in customers}
    while body["next"] is not None:
        body = agent.call("customers.search", {"search": "odd even", "after": body["next"]}).body
        assert body["data"] == []


@pytest.mark.django_db(transaction=True)
def test_a_search_of_documents_sees_one_moment(agent):
    make_draft(customer=CustomerFactory.create(name=ACME))
    held = []

    def note(run: Any, sql: str, *rest: Any) -> Any:
        if "invoices_searchword" in sql or 'FROM "invoices_document"' in sql:
            held.append(connection.in_atomic_block)
        return run(sql, *rest)

    with connection.execute_wrapper(note):
        assert len(agent.call("documents.list", {"search": "acme ltd"}).body["data"]) == 1
    assert len(held) > 1
    assert all(held)
