"""The same paths, and those of the toolkit, of what its tokens open, and of the administration."""

from typing import ClassVar

from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.urls import include, path
from oauth2_provider.contrib.rest_framework import OAuth2Authentication, TokenHasScope
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from .urls import urlpatterns as tools


class ShelfView(APIView):  # type: ignore[misc]  # REST framework has no types
    """What other programs may see, with a token of the toolkit."""

    authentication_classes = (OAuth2Authentication,)
    permission_classes = (TokenHasScope,)
    required_scopes: ClassVar = ["shelf"]

    def get(self, request: Request) -> Response:
        return Response({"books": 3})


urlpatterns = [
    *tools,
    path("shelf", ShelfView.as_view()),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("admin/", admin.site.urls),
    path("sign-in", LoginView.as_view(template_name="notes/sign_in.html"), name="sign-in"),
]
