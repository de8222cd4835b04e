"""Which app answers which path."""

from django.urls import include, path

urlpatterns = [
    path("", include("agent_access.urls")),
    path("", include("mcp_gateway.urls")),
]
