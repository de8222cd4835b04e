"""The one MCP endpoint, and nothing below it."""

from django.urls import path, re_path

from mcp_gateway.endpoint import ENDPOINT_PATH, refuse_path, serve

app_name = "mcp_gateway"

ROOT = ENDPOINT_PATH.removeprefix("/")

urlpatterns = [
    path(ROOT, serve, name="endpoint"),
    re_path(rf"^{ROOT}/", refuse_path),
]
