"""Which room answers which path."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("agent_access.http.urls")),
]
