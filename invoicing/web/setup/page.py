"""The checklist of setting up: what is done, what comes next, and putting it away."""

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render

from invoicing.administration.acts import actor_of
from invoicing.administration.setup import put_setup_away
from invoicing.rights import may_set_up
from invoicing.web.pages import SignedInRequest, page
from invoicing.web.setup.not_yours import show_not_yours
from invoicing.web.setup.steps import describe_setup


@page(methods=("GET", "POST"))
def show_setup(request: SignedInRequest) -> HttpResponse:
    """Show the checklist; POST puts it away from the home page, or shows it there again."""
    if request.method == "POST":
        return _put_away(request)
    if not may_set_up(request.user):
        return show_not_yours(request)
    return render(request, "invoicing/setup.html", {"setup": describe_setup(request.user)})


def _put_away(request: SignedInRequest) -> HttpResponse:
    wanted = request.POST.get("on_home")
    if wanted not in {"yes", "no"}:
        raise PermissionDenied
    put_setup_away(actor_of(request), away=wanted == "no")
    return redirect("home")
