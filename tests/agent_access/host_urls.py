"""The paths of a project with views of its own, beside those of the tools."""

from django.urls import include, path

from agent_access.http.views import ToolView
from tests.agent_access.host_views import TOOLS, SingleTeamView, TeamViewSet, router

urlpatterns = [
    path("host/", include(router.urls)),
    path("host/single-team/", SingleTeamView.as_view()),
    path("other/<str:house>/teams/", TeamViewSet.as_view({"get": "list", "post": "create"})),
    path("other/teams/", TeamViewSet.as_view({"post": "create"}, permission_classes=[])),
    *(
        path(
            "api/v1" + route.replace("{id}", "<str:target>"),
            ToolView.as_view(tools={tool.method: tool for tool in TOOLS if tool.path == route}),
        )
        for route in sorted({tool.path for tool in TOOLS}, key=lambda route: "{id}" in route)
    ),
    path("", include(([path("api/v1", ToolView.as_view(), name="root")], "agent_access"))),
    path("", include("mcp_gateway.urls")),
]
