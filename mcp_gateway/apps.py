from django.apps import AppConfig
from typing_extensions import override


class McpGatewayConfig(AppConfig):
    name = "mcp_gateway"
    verbose_name = "MCP gateway"

    @override
    def ready(self) -> None:
        from agent_access.discovery import RESOURCE_PATH  # noqa: PLC0415  models must be loaded first
        from agent_access.gate import register_tool_path  # noqa: PLC0415  as above
        from mcp_gateway.endpoint import refuse  # noqa: PLC0415  as above

        register_tool_path(RESOURCE_PATH, refuse)
