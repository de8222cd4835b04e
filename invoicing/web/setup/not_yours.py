"""What somebody sees who does not set the installation up: whom to ask."""

from django.http import HttpResponse
from django.shortcuts import render

from invoicing.web.askable import whom_to_ask
from invoicing.web.pages import SignedInRequest


def show_not_yours(request: SignedInRequest) -> HttpResponse:
    return render(request, "invoicing/setup_not_yours.html", {"ask": whom_to_ask()})
