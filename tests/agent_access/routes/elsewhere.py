"""A project whose agents are in the urls of some requests only."""

urlpatterns: list[object] = []
