"""What the published schemas call valid is taken, and a refusal of much stays short."""

from dataclasses import replace
from typing import Any

import pytest

from invoicing.models import TaxRate
from tests.factories import TeamFactory, UserFactory
from tests.interface.refusals import KEY_OF_ANOTHER_CALL, invalid, seen
from tests.tool_table import TABLE, TAKING_A_DRAFT, WITH_TARGET

AS_LIST = "must be a list, not a string with JSON in it: send the list itself"
AS_OBJECT = "must be an object, not a string with JSON in it: send the object itself"

# As a model sends them that knows no tax rates and takes prices for decimals.
WRONG_LINE: dict[str, Any] = {
    "description": "",
    "quantity": 1,
    "unit_price": 100.5,
    "unit": "x" * 30,
    "discount_type": "pct",
    "discount_value": 10,
    "tax_rate_id": "19%",
}


def spell(call, **arguments: Any):
    """Return the call with its record's ID in capitals, and with other arguments."""
    return replace(
        call,
        id=None if call.id is None else str(call.id).upper(),
        arguments={**call.arguments, **arguments},
    )


@pytest.mark.parametrize("tool", WITH_TARGET)
def test_an_id_in_capitals_names_its_record(agent, calls, tool):
    answer = spell(calls[tool]).made_by(agent)

    assert answer.status == TABLE[tool].status
    again = calls[tool].made_by(agent)
    # For a write that is a replay: the record is the same one, however its ID is written.
    assert (again.status, again.content) == (answer.status, answer.content)
    assert str(calls[tool].id).upper().encode() not in answer.content


def test_ids_in_capitals_are_taken_in_a_draft_and_answered_in_lower_case(agent, calls, draft_body):
    [line] = draft_body["line_items"]
    rate = str(TaxRate.objects.get().id)
    body = draft_body | {"line_items": [line | {"tax_rate_id": rate}]}
    loud = draft_body | {
        "customer_id": draft_body["customer_id"].upper(),
        "line_items": [line | {"tax_rate_id": rate.upper()}],
    }
    assert loud != body
    for tool in TAKING_A_DRAFT:
        call = replace(calls[tool], key=f"{calls[tool].key}-loud" if calls[tool].key else None)
        version = {"lock_version": 1} if tool == "drafts.update" else {}
        data = replace(call, arguments=loud | version).made_by(agent).data
        assert data["customer_id"] == body["customer_id"]
        assert [each["tax_rate_id"] for each in data["line_items"]] == [rate]


def test_a_team_in_capitals_and_an_empty_one(agent, delegate):
    team = TeamFactory.create(members=[UserFactory.create(), delegate])
    members = agent.call("people.list", {"team_id": str(team.id)})
    assert len(members.data) == 2
    loud = agent.call("people.list", {"team_id": str(team.id).upper()})
    assert loud.content == members.content
    everybody = agent.call("people.list")
    assert agent.call("people.list", {"team_id": "", "after": ""}).content == everybody.content
    assert len(everybody.data) > 2


@pytest.mark.parametrize("tool", ["drafts.update", "documents.issue_prepare"])
def test_a_lock_version_may_be_written_as_1_0(agent, calls, tool):
    call = calls[tool]
    whole = spell(call, lock_version=float(call.arguments["lock_version"]))

    answer = whole.made_by(agent)

    assert answer.status == TABLE[tool].status
    assert whole.made_by(agent).content == answer.content
    # The same number, but not the same JSON value, which is what receipts compare.
    assert seen(call.made_by(agent)) == KEY_OF_ANOTHER_CALL


def test_an_empty_tax_rate_or_language_is_none(agent, draft_body):
    """It is no filter, and an invoice without tax is not to come of a mistake."""
    [line] = draft_body["line_items"]
    body = draft_body | {"language": "", "line_items": [line | {"tax_rate_id": ""}]}
    assert seen(agent.call("documents.preview", body)) == invalid(
        ("line_items.0.tax_rate_id", "must be the ID of a record"),
        ("language", "must be a language code"),
    )


@pytest.mark.requirement("error.validation_failed", "error.fields")
def test_a_hundred_wrong_lines_are_told_by_twenty_problems_and_a_number(agent, draft_body):
    body = draft_body | {"line_items": [WRONG_LINE] * 100}

    answer = agent.call("documents.preview", body)

    assert answer.status == 422
    assert list(answer.error) == ["code", "message", "problems", "fields"]
    problems = answer.error["problems"]
    assert len(problems) == 20
    assert answer.error["fields"] == [each["field"] for each in problems]
    wrong = {each["field"].removeprefix("line_items.0.") for each in problems[:7]}
    assert wrong == WRONG_LINE.keys()
    assert answer.error["message"].endswith(
        "Only the first 20 problems are named; there are 680 more."
    )
    assert len(answer.content) < 5000


@pytest.mark.parametrize("tool", TAKING_A_DRAFT)
def test_lines_sent_as_a_string_of_json_are_told_so(agent, calls, tool):
    text = '[{"description": "Consulting", "quantity": "1", "unit_price": "12500"}]'
    for lines, problem in (
        (text, ("line_items", AS_LIST)),
        ([text[1:-1]], ("line_items.0", AS_OBJECT)),
        ("Consulting", ("line_items", "must be a list")),
    ):
        answer = spell(calls[tool], line_items=lines).made_by(agent)
        assert seen(answer) == invalid(problem)
