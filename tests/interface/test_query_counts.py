"""How many statements a call costs, whatever the number of rows that it answers with."""

from collections.abc import Callable
from datetime import time
from typing import Any

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from invoicing.models import Skill, WorkingHours
from tests.factories import (
    CustomerFactory,
    TaxRateFactory,
    TeamFactory,
    UserFactory,
    line_input,
    make_draft,
    make_issued,
    make_staff,
)
from tests.interface.issuing import decide

# A call may take no more statements than this, however long its answer.
MOST = 26

KINDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


def count_statements(agent, tool, arguments=None, **call: Any):
    """Return the statements on rows that one call makes, and the rows that it answers with."""
    with CaptureQueriesContext(database) as captured:
        answer = agent.call(tool, arguments, **call)
    assert answer.status < 300
    statements = [each["sql"] for each in captured if each["sql"].lstrip().startswith(KINDS)]
    return len(statements), answer.data


@pytest.fixture(autouse=True)
def _warm(agent) -> None:
    """Let what is read once in a process be read."""
    agent.call("tools.list")


def make_documents(count):
    user = make_staff()
    for _ in range(count):
        make_draft(user=user)


def make_people(count):
    skills = [Skill.objects.create(name=f"Skill of {count}, {number}") for number in range(3)]
    manager = UserFactory.create()
    people = UserFactory.create_batch(count, manager=manager, skills=skills)
    for person in people:
        WorkingHours.objects.create(person=person, weekday=0, start_time=time(8), end_time=time(16))
    return TeamFactory.create(members=people)


def make_teams(count):
    people = UserFactory.create_batch(count)
    for _ in range(count):
        TeamFactory.create(leads=people[:5], members=people)


# How more records of a list are made, and what finds them all.
LISTS: dict[str, tuple[Callable[[int], object], str]] = {
    "customers.search": (CustomerFactory.create_batch, "customer"),
    "documents.list": (make_documents, "customer"),
    "people.list": (make_people, "person"),
    "teams.list": (make_teams, "team"),
}


@pytest.mark.parametrize("is_search", [False, True], ids=["list", "search"])
@pytest.mark.parametrize("tool", LISTS)
def test_a_longer_page_needs_no_more_statements(agent, tool, is_search):
    make, search = LISTS[tool]
    arguments = {"search": search if is_search else ""}
    make(2)
    few, _ = count_statements(agent, tool, arguments)
    make(23)
    many, rows = count_statements(agent, tool, arguments)
    assert (few, len(rows)) == (many, 25)
    assert many <= MOST


def test_a_longer_document_needs_no_more_statements(agent):
    rates = [TaxRateFactory.create() for _ in range(5)]
    lines = tuple(line_input(tax_rate_id=rates[number % 5].id) for number in range(100))
    few, _ = count_statements(agent, "documents.get", id=make_draft().id)
    many, document = count_statements(agent, "documents.get", id=make_draft(lines=lines).id)
    assert (few, len(document["line_items"])) == (many, 100)
    assert many <= MOST
    assert len(document["tax_breakdown"]) == 5


def test_a_draft_of_100_lines_is_previewed_written_and_replaced(agent, draft_body):
    rates = [str(TaxRateFactory.create().id) for _ in range(5)]
    (line,) = draft_body["line_items"]
    lines = [line | {"tax_rate_id": rates[number % 5]} for number in range(100)]
    long_body = draft_body | {"line_items": lines}

    counts = {}
    for name, body in (("few", draft_body), ("many", long_body)):
        preview, _ = count_statements(agent, "documents.preview", body)
        create, created = count_statements(agent, "drafts.create", body, key=f"c-{name}")
        update, _ = count_statements(
            agent, "drafts.update", body | {"lock_version": 1}, id=created["id"], key=f"u-{name}"
        )
        replay, _ = count_statements(agent, "drafts.create", body, key=f"c-{name}")
        counts[name] = (preview, create, update, replay)
    # Where a statement takes 999 parameters, 100 lines are more than one.
    assert all(
        0 <= many - few <= 2 for few, many in zip(counts["few"], counts["many"], strict=True)
    )
    assert max(counts["many"]) <= MOST


def test_a_draft_of_100_lines_is_prepared_read_and_issued(agent):
    rates = [TaxRateFactory.create() for _ in range(5)]
    lines = tuple(line_input(tax_rate_id=rates[number % 5].id) for number in range(100))

    make_issued()  # the first number of a year begins the series

    counts = {}
    for name, draft in (("few", make_draft(lines=lines[:1])), ("many", make_draft(lines=lines))):
        version = {"lock_version": 1}
        prepare, prepared = count_statements(
            agent, "documents.issue_prepare", version, id=draft.id, key=f"p-{name}"
        )
        replay, _ = count_statements(
            agent, "documents.issue_prepare", version, id=draft.id, key=f"p-{name}"
        )
        read, _ = count_statements(agent, "approvals.get", id=prepared["approval_id"])
        decide(prepared)
        nonce = {"nonce": prepared["nonce"]}
        execute, _ = count_statements(
            agent, "documents.issue", nonce, id=prepared["approval_id"], key=f"e-{name}"
        )
        counts[name] = (prepare, replay, read, execute)
    assert counts["many"] == counts["few"]
    assert max(counts["many"]) <= MOST


def test_one_person_and_the_people_of_one_team_need_no_more_statements(agent):
    team = make_people(25)
    one, _ = count_statements(agent, "people.get", id=team.members.first().id)
    all_of_it, rows = count_statements(agent, "people.list", {"team_id": str(team.id)})
    assert len(rows) == 25
    assert max(one, all_of_it) <= MOST


def test_the_tools_need_no_more_statements_among_more_tax_rates(agent):
    TaxRateFactory.create()
    few, _ = count_statements(agent, "tools.list")
    TaxRateFactory.create_batch(20)
    many, _ = count_statements(agent, "tools.list")
    assert few == many <= MOST
