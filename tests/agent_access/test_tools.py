"""The registry and what it refuses, and the schemas that transports publish."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from django.core.exceptions import ImproperlyConfigured
from pydantic import BaseModel, Field, ValidationError

from agent_access.fields import ToolInput
from agent_access.tools import NoInput, Tool, ToolRegistry


def make_tool(name: str = "notes.read", **changes: Any) -> Tool:
    wanted: dict[str, Any] = {
        "name": name,
        "title": "Read",
        "description": "Reads.",
        "method": "GET",
        "path": "/notes",
        "module": "notes",
        "scope": "notes:read",
        "permissions": (),
        "input": NoInput,
        "run": print,
    }
    return Tool(**(wanted | changes))


class Inner(ToolInput):
    """Speaks to engineers."""

    word: Annotated[str, Field(description="A word.")]


class Colour(StrEnum):
    """Speaks to engineers, too."""

    RED = "red"


class Outer(ToolInput):
    inner: list[Inner]
    again: Inner
    choice: Literal["a", "b"] | None = None
    only: Literal["a"] | None = None
    colour: Colour | None = None
    count: int = 25


def test_tools_are_kept_once_in_the_order_of_their_registration_and_so_are_their_modules():
    registry = ToolRegistry()
    tools = [
        make_tool("b.b", path="/b", module="two", scope="two:read"),
        make_tool("a.a", path="/a", module="one", scope="one:read"),
        make_tool("c.c", path="/c", module="two", scope="two:read"),
        make_tool("d.d", path="/d", module=None, scope=None),
    ]
    registry.register(*tools[:2])
    registry.register(*tools[2:])
    with pytest.raises(ImproperlyConfigured, match=r"a\.a is registered twice"):
        registry.register(make_tool("a.a"))
    assert list(registry) == tools
    assert (registry.find("a.a"), registry.find("a.b")) == (tools[1], None)
    assert (registry.modules, registry.scopes) == (("two", "one"), ("two:read", "one:read"))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            {"name": "old.notes_read", "path": "/old"},
            "old.notes_read and old_notes.read are both old_notes_read over MCP",
        ),
        ({"name": "notes.list"}, "notes.list and old_notes.read are both GET /notes"),
    ],
    ids=["a name over MCP", "an address"],
)
def test_two_tools_that_one_call_could_be_for_are_refused(other, told):
    registry = ToolRegistry()
    registry.register(make_tool("old_notes.read"), make_tool("notes.write", method="POST"))
    before = list(registry)
    with pytest.raises(ImproperlyConfigured) as refusal:
        registry.register(make_tool(**other))
    assert str(refusal.value) == told
    assert list(registry) == before


NO_NAMES = ["", "notes", "notes.", "Notes.read", "notes.read.all", "notes-x.read", "a.b\n"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        *(({"name": name}, "is no tool name such as") for name in NO_NAMES),
        ({"writes": True}, "writes, so it needs find_record"),
        ({"input": BaseModel}, "is no ToolInput"),
    ],
    ids=str,
)
def test_a_row_that_describes_no_tool_is_refused(wrong, told):
    with pytest.raises(ImproperlyConfigured, match=told):
        make_tool(**wrong)


def test_names_and_places_follow_from_the_row():
    tool = make_tool("notes.read_all", path="/notes/{id}", method="PUT")
    assert (tool.mcp_name, tool.takes_target, tool.takes_body) == ("notes_read_all", True, True)
    assert (make_tool().takes_target, make_tool().takes_body) == (False, False)


def test_a_schema_is_closed_and_holds_no_reference():
    assert make_tool(input=Outer, method="POST").input_schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["inner", "again"],
        "properties": {
            "inner": {"type": "array", "items": INNER},
            "again": INNER,
            "choice": {"type": ["string", "null"], "enum": ["a", "b", None]},
            "only": {"type": ["string", "null"], "enum": ["a", None]},
            "colour": {"type": ["string", "null"], "enum": ["red", None]},
            "count": {"type": ["integer", "null"], "default": 25},
        },
    }


INNER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["word"],
    "properties": {"word": {"type": "string", "description": "A word."}},
}


def test_inputs_never_show_what_was_submitted():
    with pytest.raises(ValidationError) as error:
        Inner.model_validate({"word": 7_777_777, "secret": "ivc_x"})
    assert "7777777" not in str(error.value)
    assert "ivc_x" not in str(error.value)
