"""Whom a person asks for what only the owner may do."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from invoicing.models import Company, User

NAMES_SHOWN = 3


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
