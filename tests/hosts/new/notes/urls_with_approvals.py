"""The same paths, and the pages of approvals."""

from django.urls import include, path

from .urls_with_sign_in import urlpatterns as others

urlpatterns = [
    *others,
    path("", include("agent_access.approvals.urls")),
]
