"""The same paths, those of browser sign-in, and a page to sign in at."""

from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.urls import include, path

from .urls import urlpatterns as tools

urlpatterns = [
    *tools,
    path("", include("agent_access.oauth.urls")),
    path("", include("agent_access.oauth.well_known_urls")),
    path("admin/", admin.site.urls),
    path("sign-in", LoginView.as_view(template_name="notes/sign_in.html"), name="sign-in"),
]
