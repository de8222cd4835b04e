"""Which room answers which path."""

from django.urls import include, path

urlpatterns = [
    path("", include("agent_access.http.urls")),
    path("", include("agent_access.oauth.urls")),
    path("", include("mcp_gateway.urls")),
    path("", include("invoicing.web.urls")),
]
