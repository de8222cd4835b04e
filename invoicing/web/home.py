"""The start page, which redirects."""

from django.http import HttpResponse
from django.shortcuts import redirect

from invoicing.web.navigation import sections_of
from invoicing.web.pages import SignedInRequest, page


@page()
def home(request: SignedInRequest) -> HttpResponse:
    """Redirect to the first section that this person may see."""
    return redirect(sections_of(request.user)[0].route)
