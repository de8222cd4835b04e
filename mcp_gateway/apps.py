from django.apps import AppConfig
from typing_extensions import override

from agent_access.discovery import RESOURCE_PATH
from agent_access.gate import register_tool_path
from mcp_gateway.endpoint import refuse


class McpGatewayConfig(AppConfig):
    name = "mcp_gateway"
    verbose_name = "MCP gateway"

    @override
    def ready(self) -> None:
        register_tool_path(RESOURCE_PATH, refuse)
