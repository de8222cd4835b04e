"""The guards of a page for people, whatever middleware a project has."""

from collections.abc import Callable

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods

from agent_access.gate import guards_page


def page(view: Callable[..., HttpResponse], *more: str) -> Callable[..., HttpResponse]:
    """Return the view as a page: for GET and these methods, and for nobody who is not signed in.

    Guarded against forms and frames of other sites, and at BASE_URL only, which is where agents
    send their people.
    """
    guarded = xframe_options_deny(csrf_protect(never_cache(login_required(view))))
    return guards_page(require_http_methods(["GET", "HEAD", *more])(guarded))
