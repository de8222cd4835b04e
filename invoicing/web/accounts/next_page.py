"""Where somebody goes on to after a page that came between, such as that of signing in."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

HOME = "/"


def next_path(request: HttpRequest, *, otherwise: str = HOME) -> str:
    """Return the path that was asked for if it is on this site, or another one."""
    path = request.POST.get("next") or request.GET.get("next") or otherwise
    # The query string cannot lead elsewhere, and that of an OAuth request may be too long to check.
    place = path.partition("?")[0]
    is_own = place.startswith("/") and url_has_allowed_host_and_scheme(place, allowed_hosts=None)
    return path if is_own else otherwise
