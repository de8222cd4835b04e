"""The paths of a project that has the pages of telling people as they come."""

from django.urls import include, path

urlpatterns = [
    path("", include("agent_access.telling.urls")),
    path("", include("config.urls")),
]
