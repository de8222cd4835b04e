"""What somebody sees who does not set the installation up: whom to ask."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from invoicing.models import Company, User
from invoicing.web.pages import SignedInRequest

NAMES_SHOWN = 3


def show_not_yours(request: SignedInRequest) -> HttpResponse:
    return render(request, "invoicing/setup_not_yours.html", {"ask": whom_to_ask()})


def whom_to_ask() -> str:
    """Return whom to ask for what only the owner does, or as long as there is none, a superuser."""
    company = Company.objects.select_related("owner").first()
    if company is not None:
        return _("Ask the owner, %(name)s.") % {"name": company.owner.name}
    superusers = User.objects.listed().filter(is_superuser=True).order_by("name", "pk")
    names = [each.name for each in superusers[:NAMES_SHOWN]]
    if not names:
        return _("Ask whoever operates this service.")
    return ngettext("Ask %(names)s.", "Ask one of %(names)s.", len(names)) % {
        "names": ", ".join(names)
    }
