"""The tool that lists the tools that a connection may call, with their schemas of today."""

from collections.abc import Iterator

from typing_extensions import TypedDict

from agent_access import conf
from agent_access.addresses import API, path_of
from agent_access.calls import CallContext, Record
from agent_access.execution import is_granted
from agent_access.fields import JSONSchema
from agent_access.tools import Method, NoInput, Tool, registry


class ToolDescription(TypedDict):
    """One tool that the connection may call."""

    name: str
    mcp_name: str
    title: str
    description: str
    method: Method
    path: str
    scope: str | None
    idempotency_key_required: bool
    input_schema: JSONSchema


def granted_tools(context: CallContext) -> Iterator[tuple[Tool, JSONSchema]]:
    """Yield the granted tools of modules that are on, each with its input schema of today.

    A grant is enough to see a tool, but today's values are records: only a user who may call the
    tool now gets them.
    """
    fill = conf.policy().schema_filler()
    for tool in registry:
        if tool.module not in context.settings.modules_off and is_granted(tool, context.connection):
            may_call = context.user.has_perms(tool.permissions)
            yield tool, fill(tool, tool.input_schema) if may_call else tool.input_schema


def list_tools(context: CallContext, arguments: NoInput) -> Record[list[ToolDescription]]:
    """Interface: "Returns granted tools of modules that are on"."""
    return Record([describe_tool(tool, schema) for tool, schema in granted_tools(context)])


def describe_tool(tool: Tool, input_schema: JSONSchema) -> ToolDescription:
    return {
        "name": tool.name,
        "mcp_name": tool.mcp_name,
        "title": tool.title,
        "description": tool.description,
        "method": tool.method,
        "path": path_of(API) + tool.path,
        "scope": tool.scope,
        "idempotency_key_required": tool.writes,
        "input_schema": input_schema,
    }


TOOLS_LIST = Tool(
    name="tools.list",
    title="List the tools",
    description="The tools that this connection may call, each with its input schema.",
    method="GET",
    path="/tools",
    module=None,
    scope=None,
    permissions=(),
    input=NoInput,
    run=list_tools,
)
