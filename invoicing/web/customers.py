"""The pages on which a person looks customers up; they are changed elsewhere."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from invoicing.access import Permission, customer_for, customers_visible_to
from invoicing.searched_texts import texts_of_customer
from invoicing.web.listings import list_by_name
from invoicing.web.pages import SignedInRequest, page


@page(Permission.VIEW_CUSTOMER)
def list_customers(request: SignedInRequest) -> HttpResponse:
    customers = customers_visible_to(request.user)
    listing = list_by_name(request, customers, texts=texts_of_customer)
    return render(request, "invoicing/customers.html", {"listing": listing})


@page(Permission.VIEW_CUSTOMER)
def show_customer(request: SignedInRequest, pk: UUID) -> HttpResponse:
    customer = customer_for(request.user, pk)
    context = {
        "customer": customer,
        "managers": customer.account_managers.order_by("name"),
        "may_view_documents": request.user.has_perm(Permission.VIEW_DOCUMENT),
    }
    return render(request, "invoicing/customer.html", context)
