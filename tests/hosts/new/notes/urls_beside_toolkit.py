"""The same paths, and those of browser sign-in."""

from django.urls import include, path

from .urls_with_toolkit import urlpatterns as former

urlpatterns = [*former, path("", include("agent_access.oauth.urls"))]
