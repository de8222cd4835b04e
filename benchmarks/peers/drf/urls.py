from rest_framework.routers import SimpleRouter

from benchmarks.peers.drf.views import DocumentViewSet

router = SimpleRouter(trailing_slash=False)
router.register("documents", DocumentViewSet)

urlpatterns = router.urls
