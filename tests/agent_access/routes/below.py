"""Agents are below a path of their own, and the project has pages, and metadata, of its own."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def show(request: HttpRequest) -> HttpResponse:
    cookie = request.COOKIES.get("sessionid", "")
    return HttpResponse(f"A page for {cookie}.", headers={"Cache-Control": "public, max-age=60"})


urlpatterns = [
    path("", show),
    path("api/v1/tools", show),
    path(".well-known/openid-configuration", show),
    path("agents/", include("agent_access.urls")),
    path("agents/", include("mcp_gateway.urls")),
    path("agents/", include("agent_access.oauth.urls")),
    path("", include("agent_access.oauth.well_known_urls")),
]
