from django.urls import include, path
from rest_framework.routers import SimpleRouter

from benchmarks.host.views import AgentViewSet, ToolkitViewSet

router = SimpleRouter()
router.register("agents", AgentViewSet, basename="agents")
router.register("toolkit", ToolkitViewSet, basename="toolkit")

urlpatterns = [
    path("", include("agent_access.urls")),
    path("", include("mcp_gateway.urls")),
    path("", include(router.urls)),
]
