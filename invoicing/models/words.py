"""What pages call records and their columns, in the language of whoever reads them.

A name that Django makes of a column's own cannot be marked where it is made, and the same name in
the column would ask for a migration. So those that people see are given here.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from invoicing.models.bookkeeping import DatevSettings
from invoicing.models.company import Company
from invoicing.models.customers import Customer
from invoicing.models.numbering import NumberSeries
from invoicing.models.people import Role, Skill, Team, User
from invoicing.models.taxes import TaxRate

# The name of one record, and of several.
RECORDS: Mapping[type[Model], tuple[Any, Any]] = {
    Company: (_("company"), _("company")),
    Customer: (_("customer"), _("customers")),
    DatevSettings: (_("DATEV settings"), _("DATEV settings")),
    NumberSeries: (_("number series"), _("numbers")),
    Role: (_("role"), _("roles")),
    Skill: (_("skill"), _("skills")),
    TaxRate: (_("tax rate"), _("tax rates")),
    Team: (_("team"), _("teams")),
    User: (_("person"), _("people")),
}

PARTY: Mapping[str, Any] = {
    "name": _("name"),
    "street": _("street"),
    "postcode": _("postcode"),
    "city": _("city"),
    "region": _("region"),
    "country": _("country"),
    "tax_number": _("tax number"),
    "electronic_address": _("electronic address"),
    "electronic_address_scheme": _("electronic address scheme"),
}
COLUMNS: Mapping[type[Model], Mapping[str, Any]] = {
    Company: {
        **PARTY,
        "owner": _("owner"),
        "registration": _("registration"),
        "contact_name": _("contact name"),
        "phone": _("phone"),
        "footer_text": _("footer text"),
        "national_currency": _("national currency"),
        "watched_amounts": _("watched amounts"),
    },
    Customer: {
        **PARTY,
        "customer_number": _("customer number"),
        "buyer_reference": _("buyer reference"),
        "language": _("language"),
        "is_active": _("is active"),
        "account_managers": _("account managers"),
    },
    DatevSettings: {"adviser": _("adviser"), "client": _("client")},
    NumberSeries: {"type": _("type"), "year": _("year"), "last_value": _("last value")},
    Skill: {"name": _("name")},
    TaxRate: {
        "name": _("name"),
        "is_active": _("is active"),
        "category": _("category"),
        "revenue_account": _("revenue account"),
    },
    Team: {
        "name": _("name"),
        "description": _("description"),
        "leads": _("leads"),
        "members": _("members"),
    },
    User: {
        "name": _("name"),
        "job_title": _("job title"),
        "time_zone": _("time zone"),
        "language": _("language"),
        "manager": _("manager"),
        "skills": _("skills"),
        "is_active": _("is active"),
        "is_guest": _("is guest"),
        "private_email": _("private email"),
        "private_phone": _("private phone"),
        "hourly_rate": _("hourly rate"),
    },
}


def name_records() -> None:
    """Give the models and their columns the names above."""
    for model, (one, several) in RECORDS.items():
        model._meta.verbose_name = one
        model._meta.verbose_name_plural = several
    for model, names in COLUMNS.items():
        for name, text in names.items():
            model._meta.get_field(name).verbose_name = text  # type: ignore[union-attr]  # no reverse relation
