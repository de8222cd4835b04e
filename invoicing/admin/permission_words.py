"""The permissions in plain words, in the order in which forms show them."""

from django.utils.translation import gettext_lazy as _

from agent_access.translations import Text
from invoicing.access import Permission

APPLICATION: dict[str, Text] = {
    Permission.VIEW_CUSTOMER: _("See customers"),
    Permission.VIEW_DOCUMENT: _("See documents"),
    Permission.VIEW_PERSON: _("See people and teams"),
    Permission.VIEW_ALL_CUSTOMERS: _("Reach all customers and their documents, not only their own"),
    Permission.MANAGE: _("Create and change drafts"),
    Permission.FINALIZE: _("Issue documents"),
    Permission.EXPORT: _("Export documents and bookings"),
    Permission.AUDIT: _("Read the evidence of all issued documents"),
    Permission.MANAGE_CUSTOMERS: _(
        "Import customers, and administration: add and change customers"
    ),
}

# These have an effect for administrators only.
ADMINISTRATION: dict[str, Text] = {
    "invoices.view_user": _("Administration: see people"),
    "invoices.add_user": _("Administration: add people"),
    "invoices.change_user": _("Administration: change people and their sign-ins"),
    "invoices.view_team": _("Administration: see teams"),
    "invoices.add_team": _("Administration: add teams"),
    "invoices.change_team": _("Administration: change and archive teams"),
    "invoices.add_skill": _("Administration: add skills"),
    "invoices.change_skill": _("Administration: change skills"),
    "invoices.add_customer": _("Administration: add customers"),
    "invoices.change_customer": _("Administration: change customers and their account managers"),
    "invoices.view_taxrate": _("Administration: see tax rates"),
    "invoices.add_taxrate": _("Administration: add tax rates"),
    "invoices.change_taxrate": _("Administration: change tax rates"),
    "invoices.view_numberseries": _("Administration: see number series"),
    "invoices.change_numberseries": _("Administration: change how documents are numbered"),
    "invoices.view_datevsettings": _("Administration: see the numbers for DATEV"),
    "invoices.change_datevsettings": _("Administration: change the numbers for DATEV"),
    "invoices.view_company": _("Administration: see the company"),
    "invoices.change_company": _("Administration: change the company"),
}

WORDS = {str(name): words for name, words in (APPLICATION | ADMINISTRATION).items()}
