"""The pages of approvals, for the people whom a project signs in."""

from collections.abc import Callable

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods

from agent_access.approvals import views
from agent_access.gate import guards_page

app_name = "agent_approvals"


def page(view: Callable[..., HttpResponse], *more: str) -> Callable[..., HttpResponse]:
    """Return the view as a page: for GET and these methods, and for nobody who is not signed in.

    Guarded against forms and frames of other sites, whatever middleware the project has, and at
    BASE_URL only, which is where agents send their people.
    """
    guarded = xframe_options_deny(csrf_protect(never_cache(login_required(view))))
    return guards_page(require_http_methods(["GET", "HEAD", *more])(guarded))


urlpatterns = [
    path("approvals", page(views.list_approvals), name="inbox"),
    path("approvals/waiting", page(views.show_waiting_count), name="waiting"),
    path("approvals/<id:pk>", page(views.review, "POST"), name="review"),
    path("approvals/<id:pk>/version", page(views.show_page_version), name="version"),
    path("approvals/<id:pk>/withdraw", page(views.withdraw_approval, "POST"), name="withdraw"),
    path(
        "approvals/connections/<id:pk>/reject",
        page(views.reject_all_of, "POST"),
        name="reject-all",
    ),
]
