"""A tool as MCP clients list it."""

from typing import Any

from agent_access.tools import JSONSchema, Tool

ID = "id"
KEY = "idempotency_key"

ID_SCHEMA = {"type": "string", "format": "uuid", "description": "The ID of the record."}
KEY_SCHEMA = {
    "type": "string",
    "pattern": "^[A-Za-z0-9_-]{1,80}$",
    "description": (
        "Names this operation. Send the same key when you repeat the same operation, for example"
        " after a time-out, and a new key only for a new operation."
    ),
}


def describe_tool(tool: Tool, input_schema: JSONSchema) -> dict[str, Any]:
    """Return the entry of `tools/list`, without outputSchema: old clients hold errors to it."""
    return {
        "name": tool.mcp_name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _add_arguments(tool, input_schema),
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
    before = {ID: ID_SCHEMA} if tool.takes_target else {}
    after = {KEY: KEY_SCHEMA} if tool.writes else {}
    required = [*before, *schema.get("required", ()), *after]
    return {
        **schema,
        "properties": {**before, **schema["properties"], **after},
        **({"required": required} if required else {}),
    }
