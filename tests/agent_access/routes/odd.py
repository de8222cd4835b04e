"""Agents are let in by doors that the gate does not look at."""

from typing import Any

from django.conf.urls.i18n import i18n_patterns
from django.urls import include, path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agent_access.http.authentication import BearerAuthentication
from agent_access.http.exceptions import exception_handler
from tests.agent_access.routes import below


class OwnView(APIView):
    """A view of the project's own, which lets connections in."""

    authentication_classes = [BearerAuthentication]

    def get_exception_handler(self) -> Any:
        return exception_handler

    def get(self, request: Request) -> Response:
        return Response({"cookies": request.COOKIES})


agents = (
    [
        path("", include("agent_access.urls")),
        path("", include("mcp_gateway.urls")),
        path("", include("agent_access.oauth.urls")),
        path("", include("agent_access.approvals.urls")),
    ],
    "again",
)

urlpatterns = [
    *below.urlpatterns,
    path("again/", include(agents)),
    path("own", OwnView.as_view()),
    *i18n_patterns(path("spoken/", include(agents, namespace="spoken"))),
]
