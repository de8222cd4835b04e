"""The pages on which a person looks customers up; they are changed elsewhere."""

from collections.abc import Iterator
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from invoicing.access import (
    EXPORT_PERMISSIONS,
    IMPORT_PERMISSIONS,
    WRITE_PERMISSIONS,
    Permission,
)
from invoicing.electronic_addresses import SCHEMES
from invoicing.languages import APPLICATION_LANGUAGE, name_of_language
from invoicing.models import Customer
from invoicing.models.customers import CustomerQuerySet
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_customers
from invoicing.web.listings import (
    Listing,
    build_query,
    list_by_name,
    list_numbered,
    read_search,
)
from invoicing.web.pages import SignedInRequest, page

# More than anybody reads: one more word in the search finds the right one.
FOUND_AT_MOST = 200
# The parameter of an address, and up to how many are counted.
INACTIVE = "inactive"
MOST_COUNTED = 10_000


@page(Permission.VIEW_CUSTOMER)
def list_customers(request: SignedInRequest) -> HttpResponse:
    search, only = read_search(request.GET), request.GET.get("only", "")
    visible = Customer.objects.visible_to(request.user)
    if not search:
        is_inactive = only == INACTIVE
        chosen = visible.filter(is_active=False) if is_inactive else visible
        listing = list_by_name(request, chosen, only=INACTIVE if is_inactive else "")
        return _show_list(request, listing)
    page_request = PageRequest(search=search, limit=FOUND_AT_MOST)
    found, cursor = find_customers(request.user, page_request, active_only=False)
    found.sort(key=lambda customer: (customer.name.casefold(), customer.id))
    return _show_list(request, list_numbered(request, found), may_be_more=cursor is not None)


def _show_list(
    request: SignedInRequest, listing: Listing[Customer], *, may_be_more: bool = False
) -> HttpResponse:
    visible = Customer.objects.visible_to(request.user)
    is_inactive = request.GET.get("only") == INACTIVE and not listing.search
    counts = (
        (build_query(), gettext("All"), visible, not is_inactive),
        (
            build_query(only=INACTIVE),
            gettext("Inactive"),
            visible.filter(is_active=False),
            is_inactive,
        ),
    )
    context = {
        "listing": listing,
        # The words of a search have no counts.
        "tabs": [
            (href, label, "" if listing.search else _count(customers), is_current)
            for href, label, customers, is_current in counts
        ],
        "is_inactive": is_inactive,
        "may_be_more": may_be_more,
        "sees_all": request.user.has_perm(Permission.VIEW_ALL_CUSTOMERS),
        "may_import": request.user.has_perms(IMPORT_PERMISSIONS),
    }
    return render(request, "invoicing/customers.html", context)


def _count(customers: CustomerQuerySet) -> str:
    """Write how many there are, or that there are more than MOST_COUNTED."""
    count = customers.order_by()[: MOST_COUNTED + 1].count()
    return f"{MOST_COUNTED:,}+" if count > MOST_COUNTED else f"{count:,}"


@page(Permission.VIEW_CUSTOMER)
def show_customer(request: SignedInRequest, pk: UUID) -> HttpResponse:
    customer = Customer.objects.visible_to(request.user).find(pk)
    context = {
        "customer": customer,
        "address": customer.format_address(APPLICATION_LANGUAGE),
        "parts": [(label, text) for label, text in _parts_of(customer) if text],
        "managers": customer.account_managers.order_by("name"),
        "may_view_documents": request.user.has_perm(Permission.VIEW_DOCUMENT),
        "may_export": request.user.has_perms(EXPORT_PERMISSIONS),
        "may_write": customer.is_active and request.user.has_perms(WRITE_PERMISSIONS),
    }
    return render(request, "invoicing/customer.html", context)


def _parts_of(customer: Customer) -> Iterator[tuple[str, str]]:
    """Yield what else the company keeps of a customer, with its label; empty if it is not set."""
    yield "Customer number", customer.customer_number
    yield "Tax number", customer.tax_number
    yield "E-mail address", customer.email
    yield "Electronic address", customer.electronic_address
    scheme = customer.electronic_address_scheme
    yield "Its scheme", f"{SCHEMES.get(scheme, '')} ({scheme})" if scheme else ""
    yield "E-invoice", customer.get_e_invoice_display()
    yield "Buyer reference", customer.buyer_reference
    yield "Language", name_of_language(customer.language) if customer.language else ""
    yield "Currency", customer.currency_code
    yield "Days to pay", "" if customer.payment_days is None else str(customer.payment_days)
    yield "Before issuing", "Always warned of" if customer.is_watched else ""
