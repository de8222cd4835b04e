"""The project has an API of its own, so its agents are below a path."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def show(request: HttpRequest) -> HttpResponse:
    return HttpResponse("Help", headers={"Cache-Control": "public, max-age=60"})


urlpatterns = [
    path("", show),
    path("api/v1/tools", show),
    path("admin/", admin.site.urls),
    path("agents/", include("agent_access.urls")),
    path("agents/", include("mcp_gateway.urls")),
]
