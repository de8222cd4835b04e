"""Users and records with integer keys, and that each key is told back as it was."""

from dataclasses import replace
from typing import Annotated, Any
from uuid import UUID

import orjson
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from pydantic import Field

from agent_access import checks, keys
from agent_access.calls import Page, Record, ToolCall
from agent_access.fields import NUMBER_SCHEMA, OptionalNumber, RecordNumber, ToolInput
from agent_access.http.arguments import read_query
from agent_access.inputs import parse_input
from agent_access.openapi_schemas import describe_bodies
from agent_access.tools import Tool
from mcp_gateway.protocol import _find_target_problems, _spell
from mcp_gateway.schemas import describe_tool

# What is read and written depends on no database.
pytestmark = pytest.mark.sqlite

SOME = UUID("0190f1f0-0000-7000-8000-000000000001")


class TicketsInput(ToolInput):
    after: Annotated[OptionalNumber, Field(description="The next of the page before.")] = None
    of: RecordNumber = 1


def run(context: Any, arguments: TicketsInput) -> Page[Any]:
    raise NotImplementedError


TICKETS = Tool(
    name="tickets.read",
    title="Read",
    description="Reads.",
    method="GET",
    path="/tickets/{id}",
    module=None,
    scope=None,
    permissions=(),
    input=TicketsInput,
    run=run,
    id_type=int,
)


@pytest.mark.parametrize(("pk", "kind"), [(SOME, UUID), (1, int), (keys.MAX_NUMBER, int)])
def test_a_key_is_told_back_as_it_was(pk, kind):
    key = keys.to_key(pk)
    assert isinstance(key, UUID)
    assert keys.from_key(key, kind) == pk


def test_none_has_no_key_and_no_uuid_of_a_record_is_taken_for_a_number():
    assert keys.to_key(None) is None
    assert keys.from_key(None, int) is None
    assert keys.from_key(SOME, int) is None


@pytest.mark.parametrize("text", ["1", "42", str(2**63 - 1)])
def test_a_number_in_an_address_has_one_spelling(text):
    assert keys.read_number(text) == int(text)


@pytest.mark.parametrize(
    "text", ["", "0", "01", "-1", "+1", "1.0", "1e3", " 1", "٣", "1_0", str(2**63), "9" * 5000]
)
def test_any_other_text_names_no_record(text):
    with pytest.raises(ValueError, match="number"):
        keys.read_number(text)


def call_of(target: str, tool: Tool = TICKETS) -> ToolCall:
    found: dict[str, Any] = dict.fromkeys(("caller", "origin", "read_arguments"))
    return ToolCall(tool=tool, **found, target=target, idempotency_key=None, key_field="key")


def test_the_target_of_a_call_follows_the_type_of_its_tools_ids():
    assert call_of("7").target_id == 7
    assert call_of(str(SOME)).target_id is None
    of_uuids = replace(TICKETS, id_type=UUID)
    assert call_of(str(SOME), of_uuids).target_id == SOME
    assert call_of("7", of_uuids).target_id is None


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (7, None),
        (7.0, None),
        (-7, None),
        (None, "is required"),
        ("7", "must be an integer"),
        (7.5, "must be an integer"),
        (True, "must be an integer"),
    ],
)
def test_over_mcp_an_id_that_is_a_number_is_an_integer(sent, problem):
    found = [each.problem for each in _find_target_problems(TICKETS, sent)]
    assert found == ([problem] if problem else [])


def test_a_number_over_mcp_is_the_same_record_as_in_an_address():
    assert (_spell(7), _spell(7.0), _spell("7"), _spell(None)) == ("7", "7", "7", None)


def test_the_schemas_of_both_transports_say_that_ids_are_integers():
    listed = describe_tool(TICKETS, TICKETS.input_schema)["inputSchema"]["properties"]
    described = {key: listed["id"][key] for key in NUMBER_SCHEMA}
    assert described == NUMBER_SCHEMA
    assert listed["after"]["type"] == ["integer", "null"]
    _, answers, _ = describe_bodies([TICKETS])
    following = answers[TICKETS.name]["properties"]["next"]
    assert following["type"] == ["integer", "null"]


@pytest.mark.parametrize(
    ("query", "after"), [("after=7", 7), ("after=7.0", 7), ("after=", None), ("", None)]
)
def test_a_page_goes_on_after_a_number(rf, query, after):
    arguments = read_query(rf.get(f"/tickets?{query}"), TICKETS)
    assert parse_input(TicketsInput, arguments.values) == TicketsInput(after=after)


def test_an_answer_has_numbers_as_the_shape_and_next_have_them():
    assert orjson.loads(Page([{"id": 7}], 7).body()) == {"data": [{"id": 7}], "next": 7}
    assert Record({"id": 7}, 7).record_id == 7


def test_ids_of_any_other_type_are_refused_when_a_tool_is_made():
    with pytest.raises(ImproperlyConfigured, match="must be UUIDs or integers"):
        replace(TICKETS, id_type=str)  # type: ignore[arg-type]  # as without types


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        (models.UUIDField(), UUID),
        (models.AutoField(primary_key=True), int),
        (models.BigAutoField(primary_key=True), int),
        (models.CharField(), None),
    ],
    ids=lambda each: type(each).__name__,
)
def test_users_have_uuids_or_integers_or_a_check_says_so(monkeypatch, field, kind):
    monkeypatch.setattr("invoicing.models.User._meta.pk", field)
    assert keys.user_key_kind() is kind
    assert [each.id for each in checks.check_user()] == ([] if kind else ["agent_access.E002"])
