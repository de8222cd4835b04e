from django.apps import AppConfig
from typing_extensions import override

from agent_access.addresses import MCP, find_path
from agent_access.gate import register_paths
from mcp_gateway.endpoint import refuse


class McpGatewayConfig(AppConfig):
    name = "mcp_gateway"
    verbose_name = "MCP gateway"

    @override
    def ready(self) -> None:
        register_paths(lambda: [find_path(MCP)], refuse)
