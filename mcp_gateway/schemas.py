"""A tool as MCP clients list it."""

import re
from typing import Any

from agent_access.fields import JSONSchema
from agent_access.inputs import KEY_SCHEMA
from agent_access.tools import Tool, registry

ID = "id"
KEY = "idempotency_key"

DOTTED_NAME = re.compile(r"\b[a-z_]+\.[a-z_]+\b")


def describe_tool(tool: Tool, input_schema: JSONSchema) -> dict[str, Any]:
    """Return the entry of `tools/list`, without outputSchema: old clients check errors by it."""
    return {
        "name": tool.mcp_name,
        "title": tool.title,
        "description": _rename(tool.description),
        "inputSchema": _translate(_add_arguments(tool, input_schema)),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": not tool.writes,
            "destructiveHint": tool.is_destructive,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }


def _add_arguments(tool: Tool, schema: JSONSchema) -> JSONSchema:
    """Interface: record calls put `id` in arguments; writing calls also put `idempotency_key`."""
    before = {ID: _id_schema(tool)} if tool.takes_target else {}
    after = {KEY: KEY_SCHEMA} if tool.writes else {}
    required = [*before, *schema.get("required", ()), *after]
    return {
        **schema,
        "properties": {**before, **schema["properties"], **after},
        **({"required": required} if required else {}),
    }


def _id_schema(tool: Tool) -> JSONSchema:
    """Say whose ID it is: over HTTP the path says it (`/approvals/{id}/execute`)."""
    collection = tool.path.split("/")[1]
    return tool.id_schema | {"description": f"The ID of the record, one of the {collection}."}


def _translate(schema: Any) -> Any:
    """Return the schema with MCP's names of tools in all its texts."""
    if isinstance(schema, list):
        return [_translate(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _translate(inner) for key, inner in schema.items()}
    if isinstance(text := plain.get("description"), str):
        plain["description"] = _rename(text)
    return plain


def _rename(text: str) -> str:
    return DOTTED_NAME.sub(_mcp_name, text)


def _mcp_name(found: re.Match[str]) -> str:
    tool = registry.find(found[0])
    return tool.mcp_name if tool else found[0]
