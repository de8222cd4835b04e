"""The one MCP endpoint, with no trailing slash."""

from django.urls import path

from mcp_gateway.views import serve

MCP_PATH = "/mcp"

urlpatterns = [path(MCP_PATH.removeprefix("/"), serve)]
