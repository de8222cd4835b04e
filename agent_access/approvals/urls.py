"""The pages of approvals, for the people whom a project signs in."""

from django.urls import path

from agent_access.approvals import views
from agent_access.pages import page

app_name = "agent_approvals"

urlpatterns = [
    path("approvals", page(views.list_approvals), name="inbox"),
    path("approvals/missed", page(views.list_missed), name="missed"),
    path("approvals/waiting", page(views.show_waiting_count), name="waiting"),
    path("approvals/<agent_access_id:pk>", page(views.review, "POST"), name="review"),
    path("approvals/<agent_access_id:pk>/sign", page(views.give_options, "POST"), name="sign"),
    path("approvals/<agent_access_id:pk>/version", page(views.show_page_version), name="version"),
    path(
        "approvals/<agent_access_id:pk>/withdraw",
        page(views.withdraw_approval, "POST"),
        name="withdraw",
    ),
    path(
        "approvals/connections/<agent_access_id:pk>/reject",
        page(views.reject_all_of, "POST"),
        name="reject-all",
    ),
]
