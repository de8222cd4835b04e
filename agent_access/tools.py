"""What a tool is, and the registry that every transport reads."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import cached_property
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import override

from agent_access.errors import ToolError
from agent_access.fields import ID_SCHEMA, NUMBER_SCHEMA, JSONSchema, ToolInput
from agent_access.identifiers import read_id
from agent_access.keys import Key, read_number

__all__ = ["NoInput", "Tool", "registry"]

# Below the place where the project includes the routes.
API_PATH = "/api/v1"

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

NULL = "null"
NAME = re.compile(r"[a-z_]+\.[a-z_]+")


class NoInput(ToolInput):
    """A tool without arguments."""


class PlainJsonSchema(GenerateJsonSchema):
    """Optional values as `type: [.., null]`, since many clients drop `anyOf`; no empty defaults."""

    @override
    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        return with_null(inner) if "type" in inner else super().nullable_schema(schema)

    @override
    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default", ...) in {None, ""}:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    @override
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        # A model's name and docstring are meant for engineers, not for clients.
        described = super().model_schema(schema)
        return {key: described[key] for key in described if key not in {"title", "description"}}


def with_null(schema: JSONSchema) -> JSONSchema:
    """Return the schema with null as another type and, if it has any choices, another choice."""
    if not isinstance(schema.get("type"), str):
        return schema
    plain = {key: value for key, value in schema.items() if key != "const"}
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return (
        plain | {"type": [schema["type"], NULL]} | ({"enum": [*choices, None]} if choices else {})
    )


def without_null(schema: JSONSchema) -> JSONSchema:
    """Return the schema without null, neither as a type nor as a choice."""
    if not isinstance(kinds := schema.get("type"), list) or NULL not in kinds:
        return schema
    (kind,) = (each for each in kinds if each != NULL)
    choices = [choice for choice in schema.get("enum", ()) if choice is not None]
    plain = {key: value for key, value in schema.items() if key != "enum"}
    return plain | {"type": kind} | ({"enum": choices} if choices else {})


def inline_references(schema: Any, definitions: JSONSchema) -> Any:
    """Return the schema with every `$ref` replaced, since many clients lose references.

    The name and docstring of a class are left out: they are meant for engineers.
    """
    if isinstance(schema, list):
        return [inline_references(entry, definitions) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        named = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {key: named[key] for key in named if key not in {"title", "description"}} | schema
    inlined = {
        key: inline_references(value, definitions)
        for key, value in schema.items()
        if key not in {"$defs", "$ref"}
    }
    match inlined:
        case {"anyOf": [{"type": str()} as inner, {"type": "null"}], **more}:
            return with_null(inner) | more
    return inlined


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One row of a catalogue: all that a transport must know of a tool.

    `path` is relative to `/api/v1` and has an `{id}` if the tool has a target. `run` takes a
    CallContext and the input; its annotation says what it returns: `Record[Shape]` or
    `Page[Shape]`, with a TypedDict as the shape. `find_record` fetches a record for a user or
    raises the project's "not found"; a replay calls it to learn whether the user may still see the
    record. Where a write has no record, a replay calls `check_user`, which raises what keeps the
    user from the tool. `answers_secret` has the stored answer encrypted. A destructive tool
    replaces or freezes what was there, where others only add (MCP's `destructiveHint`). A read that
    needs no snapshot is consistent by itself: one statement, or a snapshot of its own. `refusals`
    are the project's own, in addition to those that any tool may give. `id_type` is what the
    records' IDs are, UUID or int: in the path, in `record_id` and in `next`. `leads_to` names the
    tools that an answer may be followed by, each with the place of its ID in the record, such as
    `id` or `order/id`; the OpenAPI document has them as links.
    """

    name: str
    title: str
    description: str
    method: Method
    path: str
    module: str | None
    scope: str | None
    permissions: Sequence[str]
    input: type[ToolInput]
    run: Callable[..., Any]
    writes: bool = False
    find_record: Callable[[Any, Any], object] | None = None
    check_user: Callable[[Any], object] | None = None
    status: HTTPStatus = HTTPStatus.OK
    answers_secret: bool = False
    is_destructive: bool = False
    refusals: Sequence[type[ToolError]] = ()
    needs_snapshot: bool = True
    id_type: type[Key] = UUID
    leads_to: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ImproperlyConfigured(f"{self.name!r} is no tool name such as noun.verb")
        if not issubclass(self.input, ToolInput):
            raise ImproperlyConfigured(f"the input of {self.name} is no ToolInput")
        if self.id_type not in (UUID, int):
            raise ImproperlyConfigured(f"the IDs of {self.name} must be UUIDs or integers")
        if self.writes and self.find_record is None:
            raise ImproperlyConfigured(f"{self.name} writes, so it needs find_record for replays")

    @cached_property
    def mcp_name(self) -> str:
        """Interface: "Dots become underscores"."""
        return self.name.replace(".", "_")

    @property
    def id_schema(self) -> JSONSchema:
        return ID_SCHEMA if self.id_type is UUID else NUMBER_SCHEMA

    def read_id(self, text: str) -> Key:
        """Return the ID of a record as an address has it; raise ValueError for any other text."""
        return read_id(text) if self.id_type is UUID else read_number(text)

    @property
    def takes_target(self) -> bool:
        return "{id}" in self.path

    @property
    def takes_body(self) -> bool:
        return self.method in {"POST", "PUT", "PATCH"}

    @cached_property
    def input_schema(self) -> JSONSchema:
        """Return the static JSON Schema (2020-12) of the query or body: closed and inlined.

        Every optional field may be null, which means that it is left out.
        """
        schema = self.input.model_json_schema(schema_generator=PlainJsonSchema)
        inlined: JSONSchema = inline_references(schema, schema.get("$defs", {}))
        required = inlined.get("required", ())
        fields = inlined.get("properties", {}).items()
        return inlined | {
            "properties": {
                name: field if name in required else with_null(field) for name, field in fields
            }
        }


class ToolRegistry:
    """The tools of a project, in the order in which they were registered."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def register(self, *tools: Tool) -> None:
        """Add the tools; raise ImproperlyConfigured for a name or an address that is taken."""
        for tool in tools:
            if tool.name in self._tools:
                raise ImproperlyConfigured(f"{tool.name} is registered twice")
            for other in self:
                _require_apart(tool, other)
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def find_by_mcp_name(self, name: str) -> Tool | None:
        return next((tool for tool in self if tool.mcp_name == name), None)

    @property
    def modules(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool.module for tool in self if tool.module))

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool.scope for tool in self if tool.scope))


def _require_apart(tool: Tool, other: Tool) -> None:
    """Raise ImproperlyConfigured if a call could be for either tool."""
    if tool.mcp_name == other.mcp_name:
        told = f"{tool.name} and {other.name} are both {tool.mcp_name} over MCP"
        raise ImproperlyConfigured(told)
    if (tool.method, tool.path) == (other.method, other.path):
        told = f"{tool.name} and {other.name} are both {tool.method} {tool.path}"
        raise ImproperlyConfigured(told)


registry = ToolRegistry()
