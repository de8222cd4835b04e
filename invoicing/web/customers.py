"""The pages about customers."""

from django.http import HttpResponse
from django.shortcuts import render

from invoicing.access import Permission
from invoicing.web.pages import SignedInRequest, page


@page(Permission.VIEW_CUSTOMER)
def list_customers(request: SignedInRequest) -> HttpResponse:
    return render(request, "base.html")
