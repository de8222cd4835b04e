"""The customers that the form of a draft suggests while somebody types a name."""

from urllib.parse import urlencode

from django.http import JsonResponse
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, resolve, reverse

from invoicing.access import WRITE_PERMISSIONS, Permission
from invoicing.models import User
from invoicing.web.drafts.customers import suggest_customers
from invoicing.web.listings import read_search
from invoicing.web.pages import SignedInRequest, page


@page(Permission.VIEW_CUSTOMER, *WRITE_PERMISSIONS)
def find_customer(request: SignedInRequest) -> JsonResponse:
    """Answer with the options as HTML, and with what was found in words."""
    search = read_search(request.GET)
    found, hint = suggest_customers(request.user, search)
    context = {
        "found": found,
        "search": search,
        "new_href": _new_customer_href(request.user, search),
    }
    options = render_to_string("invoicing/customer_options.html", context)
    return JsonResponse({"options": options, "hint": hint})


def _new_customer_href(user: User, search: str) -> str:
    """Return where somebody who may makes a customer of this name for a draft, or nothing."""
    try:
        path = reverse("new-customer")
    except NoReverseMatch:
        return ""
    permissions = getattr(resolve(path).func, "permissions", ())
    query = urlencode({"name": search, "for": "draft"})
    return f"{path}?{query}" if user.has_perms(permissions) else ""
