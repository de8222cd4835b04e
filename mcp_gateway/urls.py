"""The one MCP endpoint, and nothing below it."""

from django.urls import path, re_path

from agent_access.discovery import RESOURCE_PATH
from mcp_gateway.endpoint import refuse_path, serve

ROOT = RESOURCE_PATH.removeprefix("/")

urlpatterns = [
    path(ROOT, serve),
    re_path(rf"^{ROOT}/", refuse_path),
]
