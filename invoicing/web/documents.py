"""The pages about invoices and credit notes."""

from django.http import HttpResponse
from django.shortcuts import render

from invoicing.access import Permission
from invoicing.web.pages import SignedInRequest, page


@page(Permission.VIEW_DOCUMENT)
def list_documents(request: SignedInRequest) -> HttpResponse:
    return render(request, "base.html")
