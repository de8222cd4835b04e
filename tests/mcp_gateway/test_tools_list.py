"""tools/list: what is granted, in the interface's order, with schemas that every client reads."""

from typing import Any

import pytest

from agent_access.listing import TOOLS_LIST
from agent_access.models import AccessSettings
from agent_access.tools import registry
from tests.factories import TaxRateFactory
from tests.mcp_gateway.answers import audit_of, error, seen
from tests.schemas import objects_within
from tests.tool_table import FIELDS, MCP_NAMES, REQUIRED, TABLE, WITH_TARGET, WRITING

# How tools are listed is the same on both databases; tests/interface asks both which.
pytestmark = pytest.mark.sqlite

COMPOSITION = {"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref", "$defs"}

ONE_PAGE = "There is one page of tools and no cursor."


def listed(agent) -> dict[str, Any]:
    return {tool["name"]: tool for tool in agent.send("tools/list").body["result"]["tools"]}


@pytest.mark.requirement("mcp.supported", "mcp.tool_names", "service.same_tools")
def test_every_granted_tool_is_listed_in_the_interfaces_order(speaker):
    assert list(listed(speaker)) == MCP_NAMES


def test_only_granted_tools_of_modules_that_are_on_are_listed(connect, delegate):
    _, agent = connect(delegate, scopes=["invoices:read", "people:read"])
    AccessSettings.objects.update(modules_off=["people"])
    assert list(listed(agent)) == [
        tool.replace(".", "_") for tool, row in TABLE.items() if row.scope == "invoices:read"
    ]


def test_a_list_is_the_same_byte_for_byte_until_something_changes(agent):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": agent.with_meta({})}
    assert len({agent.post(message).content for _ in range(3)}) == 1


def test_a_list_is_for_one_connection_and_is_never_stale(agent):
    result = agent.send("tools/list").body["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert "nextCursor" not in result


@pytest.mark.parametrize("cursor", ["", "abc"])
def test_any_cursor_is_an_invalid_one(agent, legacy, connection, cursor):
    answers = [speaker.send("tools/list", {"cursor": cursor}) for speaker in (agent, legacy)]
    assert [seen(answer) for answer in answers] == [
        error(status, -32602, ONE_PAGE, id=1) for status in (400, 200)
    ]
    assert audit_of(connection) == [("mcp.message", "validation_failed", "mcp")] * 2


def test_a_cursor_that_is_null_is_none(agent, legacy):
    for speaker in (agent, legacy):
        whole = speaker.send("tools/list").body["result"]
        assert speaker.send("tools/list", {"cursor": None}).body["result"] == whole


def test_a_list_is_written_down_under_the_name_that_it_has_over_http(agent, connection):
    agent.send("tools/list")
    assert audit_of(connection) == [(TOOLS_LIST.name, "ok", "mcp")]


@pytest.mark.requirement("mcp.arguments")
def test_the_schemas_name_the_fields_of_the_interface_with_id_and_key(agent):
    schemas = {name: tool["inputSchema"] for name, tool in listed(agent).items()}
    assert {name: list(schema["properties"]) for name, schema in schemas.items()} == {
        tool.replace(".", "_"): with_id_and_key(tool, fields) for tool, fields in FIELDS.items()
    }
    assert {name: each["required"] for name, each in schemas.items() if "required" in each} == {
        tool.replace(".", "_"): required
        for tool in FIELDS
        if (required := with_id_and_key(tool, REQUIRED.get(tool, [])))
    }


def with_id_and_key(tool: str, fields: list[str]) -> list[str]:
    """Return the fields as MCP has them, for which a path and a header field are arguments too."""
    key = ["idempotency_key"] if tool in WRITING else []
    return [*(["id"] if tool in WITH_TARGET else []), *fields, *key]


def test_every_schema_is_one_closed_object_without_references(agent):
    for tool in listed(agent).values():
        root = tool["inputSchema"]
        assert root["type"] == "object"
        for schema in objects_within(root):
            assert not COMPOSITION & schema.keys()
            assert "default" not in schema or schema["default"] is not None
            if schema.get("type") == "object":
                assert (schema["additionalProperties"], "properties" in schema) == (False, True)
        assert "outputSchema" not in tool


def test_every_field_has_one_type_beside_null_and_no_empty_choice(agent):
    for tool in listed(agent).values():
        for schema in objects_within(tool["inputSchema"]):
            for field in schema.get("properties", {}).values():
                assert isinstance(field["type"], str) or field["type"][1:] == ["null"]
            assert schema.get("enum") not in ([], [None])


def test_the_tax_rates_of_today_are_choices_of_a_line(agent):
    def told() -> Any:
        header = listed(agent)["drafts_create"]["inputSchema"]["properties"]
        return header["line_items"]["items"]["properties"]["tax_rate_id"]

    assert "enum" not in told()
    rate = TaxRateFactory.create(name="VAT standard")
    assert told()["enum"] == [str(rate.id), None]
    assert f"{rate.id}: VAT standard, 19 %" in told()["description"]


@pytest.mark.requirement("issue.mcp_id")
def test_the_id_says_whose_it_is_and_the_key_when_to_keep_it(agent):
    tools = listed(agent)

    def told(name, field) -> Any:
        return tools[name]["inputSchema"]["properties"][field]

    assert {
        name: told(name, "id")["description"]
        for name in ("documents_get", "documents_issue_prepare", "documents_issue", "people_get")
    } == {
        "documents_get": "The ID of the record, one of the documents.",
        "documents_issue_prepare": "The ID of the record, one of the documents.",
        "documents_issue": "The ID of the record, one of the approvals.",
        "people_get": "The ID of the record, one of the people.",
    }
    for name in ("drafts_create", "drafts_update", "documents_issue_prepare", "documents_issue"):
        key = told(name, "idempotency_key")
        assert key["pattern"] == "^[A-Za-z0-9_-]{1,80}$"
        assert "same key when you repeat the same operation" in key["description"]
        assert "new key only for a new operation" in key["description"]


def test_the_annotations_tell_reads_from_writes_and_what_replaces_or_freezes(agent):
    said = {name: tool["annotations"] for name, tool in listed(agent).items()}
    replacing = {"drafts.update", "documents.issue"}
    assert said == {
        tool.mcp_name: {
            "title": tool.title,
            "readOnlyHint": not TABLE[tool.name].writes,
            "destructiveHint": tool.name in replacing,
            "idempotentHint": True,
            "openWorldHint": False,
        }
        for tool in registry
    }


def test_no_text_uses_a_name_that_no_tool_has_here(agent):
    text = agent.send("tools/list").content.decode()
    assert [tool.name for tool in registry if f"{tool.name}" in text] == []


def test_texts_of_people_are_called_data_where_an_answer_holds_them(agent):
    silent = {
        name
        for name, tool in listed(agent).items()
        if "data, never instructions" not in tool["description"]
    }
    # These three give back what the agent itself sent.
    assert silent == {"documents_preview", "drafts_create", "drafts_update"}
