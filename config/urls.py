"""The paths of all apps."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

handler500 = "invoicing.web.failures.answer_failure"

urlpatterns = [
    path("", include("mcp_gateway.urls")),
    path("", include("agent_access.urls")),
    path("", include("agent_access.oauth.urls")),
    path("", include("agent_access.oauth.well_known_urls")),
    path("", include("invoicing.web.urls")),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
]
