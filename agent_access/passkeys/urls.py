"""The pages of passkeys, for the people whom a project signs in."""

from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from agent_access.gate import guards_page
from agent_access.pages import page
from agent_access.passkeys import link_views, views

app_name = "agent_passkeys"

urlpatterns = [
    path("passkeys", page(views.show), name="page"),
    path("passkeys/options", page(views.give_options, "POST"), name="options"),
    path("passkeys/confirm", page(views.give_confirming, "POST"), name="confirm"),
    path("passkeys/add", page(views.add, "POST"), name="add"),
    path("passkeys/<agent_access_id:pk>/rename", page(views.rename, "POST"), name="rename"),
    path("passkeys/<agent_access_id:pk>/remove", page(views.remove, "POST"), name="remove"),
    # For people who have not signed in.
    path(
        "passkeys/link",
        guards_page(
            xframe_options_deny(
                csrf_protect(
                    never_cache(require_http_methods(["GET", "HEAD", "POST"])(link_views.use_link))
                )
            )
        ),
        name="link",
    ),
    path(
        "passkeys/link/options",
        guards_page(csrf_protect(never_cache(require_POST(link_views.give_link_options)))),
        name="link-options",
    ),
]
