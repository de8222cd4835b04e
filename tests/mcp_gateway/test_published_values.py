"""What only MCP can send: null, and a limit as a number; both as lenient as the schemas."""

import pytest

from tests.factories import TeamFactory
from tests.mcp_agent import read_answer
from tests.schemas import objects_within
from tests.tool_table import LISTS

pytestmark = pytest.mark.sqlite  # MCP does not depend on the database


def call(agent, tool, arguments):
    params = {"name": tool.replace(".", "_"), "arguments": arguments}
    return read_answer(agent.send("tools/call", params), tool)


@pytest.mark.parametrize("tool", LISTS)
def test_null_stands_for_each_field_that_is_left_out(speaker, customer, draft, tool):
    TeamFactory.create()
    plain = call(speaker, tool, {})
    sent = {"search": None, "after": None, "limit": None}
    sent |= {"team_id": None} if tool == "people.list" else {}
    assert plain.data
    assert call(speaker, tool, sent).content == plain.content


@pytest.mark.parametrize("tool", LISTS)
def test_a_limit_may_be_written_as_5_0_and_as_nothing_else(agent, draft, tool):
    TeamFactory.create()
    assert call(agent, tool, {"limit": 1.0}).content == call(agent, tool, {"limit": 1}).content
    for limit, problem in (
        (5.5, "must be an integer"),
        ("5", "must be an integer"),
        ("", "must be an integer"),
        (True, "must be an integer"),
        (0.0, "must be at least 1"),
        (51.0, "must be at most 50"),
        (1e300, "must be at most 50"),
    ):
        answer = call(agent, tool, {"limit": limit})
        assert answer.error["problems"] == [{"field": "limit", "problem": problem}], limit


def test_null_stands_for_no_required_field_and_for_no_unknown_one(agent):
    sent = {"id": None, "lock_version": None, "idempotency_key": None, "surprise": None}
    assert call(agent, "documents.issue_prepare", sent).error["problems"] == [
        {"field": "id", "problem": "is required"},
        {"field": "Idempotency-Key", "problem": "is required"},
        {"field": "lock_version", "problem": "must be an integer"},
        {"field": "surprise", "problem": "is not a field of this tool"},
    ]


def test_the_schemas_say_of_each_optional_field_that_it_may_be_null(agent):
    for tool in agent.send("tools/list").body["result"]["tools"]:
        for schema in objects_within(tool["inputSchema"]):
            required = schema.get("required", ())
            for name, field in schema.get("properties", {}).items():
                is_nullable = "null" in field["type"] and None in field.get("enum", [None])
                assert is_nullable == (name not in required), (tool["name"], name)
