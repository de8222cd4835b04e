"""The one MCP endpoint, and nothing below it."""

from django.urls import path, re_path

from mcp_gateway.endpoint import refuse_path, serve

MCP_PATH = "/mcp"

ROOT = MCP_PATH.removeprefix("/")

urlpatterns = [
    path(ROOT, serve),
    re_path(rf"^{ROOT}/", refuse_path),
]
