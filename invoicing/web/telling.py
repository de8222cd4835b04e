"""The pages of telling people, guarded as all pages of this application."""

from django.urls import path

from agent_access.telling import views
from agent_access.telling.views import describe
from invoicing.web.pages import page

__all__ = ["describe", "urlpatterns"]

_form = page(methods=("GET", "POST"))
urlpatterns = [
    path("account/notifications/choices", _form(views.choose), name="choose"),
    path("account/notifications/test", _form(views.try_out), name="test"),
    path("account/notifications/browsers", _form(views.add), name="add"),
    path(
        "account/notifications/browsers/<agent_access_id:pk>/remove",
        _form(views.forget),
        name="forget",
    ),
    path(
        "account/notifications/connections/<agent_access_id:pk>/mute",
        _form(views.mute_connection),
        name="mute",
    ),
    path(
        "account/notifications/connections/<agent_access_id:pk>/unmute",
        _form(views.unmute_connection),
        name="unmute",
    ),
    path("service-worker.js", views.service_worker, name="service-worker"),
]
