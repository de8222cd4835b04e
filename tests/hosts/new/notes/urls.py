"""Which app answers which path."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from .views import NotebookViewSet

router = SimpleRouter()
router.register("notebook", NotebookViewSet)

urlpatterns = [
    path("", include("agent_access.urls")),
    path("", include("mcp_gateway.urls")),
    path("rest/", include(router.urls)),
]
