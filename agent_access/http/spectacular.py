"""What a project's document of drf-spectacular says of agents; loaded where that is installed."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from typing_extensions import override

from agent_access.fields import JSONSchema
from agent_access.http.viewset_tools import find_tool, tools_of
from agent_access.inputs import KEY_HEADER, KEY_SCHEMA

__all__ = ["describe_calls"]


SCHEME = "connection"


class ConnectionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its base is not typed
    """The bearer scheme of connections, at those operations that are tools."""

    target_class = "agent_access.http.authentication.ConnectionAuthentication"
    name = SCHEME

    @override
    def get_security_definition(self, auto_schema: Any) -> JSONSchema:
        text = "The credential of a connection, or an access token of a browser sign-in."
        return {"type": "http", "scheme": "bearer", "description": text}

    @override
    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{SCHEME: []}] if find_tool(auto_schema.view) else []


def describe_calls(result: JSONSchema, generator: Any, request: Any, public: Any) -> JSONSchema:
    """Add to each operation that is a tool the tool's name and scope, and the key of a write.

    One of drf-spectacular's POSTPROCESSING_HOOKS. People need no key, so it is not required.
    """
    for path, _, method, view in generator.endpoints:
        actions = getattr(view, "actions", None) or {}
        tool = tools_of(view.cls).get(actions.get(method.lower(), ""))
        operation = result["paths"].get(path, {}).get(method.lower())
        if not tool or not operation:
            continue
        operation["x-agent-tool"] = {"name": tool.name, "scope": tool.scope}
        if tool.writes:
            key = {"name": KEY_HEADER, "in": "header", "required": False, "schema": KEY_SCHEMA}
            operation.setdefault("parameters", []).append(key)
    return result
