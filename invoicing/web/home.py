"""The door: where a person arrives."""

from django.http import HttpResponse
from django.shortcuts import redirect

from invoicing.web.navigation import rooms_of
from invoicing.web.pages import SignedInRequest, page


@page()
def home(request: SignedInRequest) -> HttpResponse:
    """Lead to the first room that this person may enter."""
    return redirect(rooms_of(request.user)[0].route)
