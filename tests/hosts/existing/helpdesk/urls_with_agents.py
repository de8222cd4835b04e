from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.urls import include, path
from rest_framework.authtoken.views import obtain_auth_token
from rest_framework.routers import DefaultRouter

from helpdesk import views
from helpdesk.api_with_agents import TicketViewSet

router = DefaultRouter()
router.register("tickets", TicketViewSet)

urlpatterns = [
    path("", views.show_front, name="front"),
    path("status", views.show_status),
    path("login/", LoginView.as_view(template_name="helpdesk/login.html"), name="login"),
    path("tickets/", views.list_tickets, name="tickets"),
    path("admin/", admin.site.urls),
    path("api/v1/token/", obtain_auth_token),
    path("api/v1/", include(router.urls)),
    path("o/", include("oauth2_provider.urls")),
    path("agents/", include("agent_access.urls")),
    path("agents/", include("agent_access.oauth.urls")),
    path("agents/", include("agent_access.approvals.urls")),
    path("agents/", include("mcp_gateway.urls")),
    path("", include("agent_access.oauth.well_known_urls")),
]
