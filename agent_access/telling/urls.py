"""The pages of telling people, for the people whom a project signs in."""

from django.urls import path

from agent_access.gate import guards_page
from agent_access.pages import page
from agent_access.telling import views

app_name = "agent_telling"

urlpatterns = [
    path("notifications", page(views.show), name="page"),
    path("notifications/choices", page(views.choose, "POST"), name="choose"),
    path("notifications/test", page(views.try_out, "POST"), name="test"),
    path("notifications/browsers", page(views.add, "POST"), name="add"),
    path(
        "notifications/browsers/<agent_access_id:pk>/remove",
        page(views.forget, "POST"),
        name="forget",
    ),
    path(
        "notifications/connections/<agent_access_id:pk>/mute",
        page(views.mute_connection, "POST"),
        name="mute",
    ),
    path(
        "notifications/connections/<agent_access_id:pk>/unmute",
        page(views.unmute_connection, "POST"),
        name="unmute",
    ),
    # Its place is what it may act for: the pages below.
    path("service-worker.js", guards_page(views.service_worker), name="service-worker"),
]
