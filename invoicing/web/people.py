"""The pages about people."""

from django.http import HttpResponse
from django.shortcuts import render

from invoicing.access import Permission
from invoicing.web.pages import SignedInRequest, page


@page(Permission.VIEW_PERSON)
def list_people(request: SignedInRequest) -> HttpResponse:
    return render(request, "base.html")
