"""The admin of customers: of those in the administrator's scope."""

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.text import get_text_list
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from agent_access.translations import Text
from agent_access.visible_text import mark_invisible
from invoicing.access import Permission
from invoicing.admin.fields import PeopleField
from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.administration.records import IsAllowed
from invoicing.draft_fields import BUYER_REFERENCE_LENGTH
from invoicing.e_invoices.kinds import Kind
from invoicing.electronic_addresses import propose_addresses, schemes
from invoicing.languages import countries_by_name, name_of_language
from invoicing.models import Customer, User
from invoicing.money import SUPPORTED_CURRENCIES
from invoicing.rights import is_owner, may_administer

# What the forms of the company and of customers share.
ADDRESS: tuple[Any, Any] = (
    _("Address"),
    {"fields": ("street", "address_line", ("postcode", "city"), ("region", "country"))},
)
ELECTRONIC_ADDRESS = ("electronic_address_scheme", "electronic_address")

TAKEN_FROM_ABOVE = _(
    "Leave it empty to use the e-mail address or the VAT number, if you chose one of them."
)
BUYER_REFERENCE = _(
    "Printed on invoices that have no other one. For a German authority, its Leitweg-ID."
)
NOT_GIVEN = _("Not given")
# A year and a day; more is mistyped.
MOST_DAYS = 366

Choices = Mapping[str, Text]


def currencies() -> Choices:
    return {code: code for code in SUPPORTED_CURRENCIES}


class PartyForm(RecordForm):
    """The form of a party to an invoice.

    What an electronic address may be is proposed, and taken only if its scheme is chosen.
    """

    country = forms.ChoiceField(label=_("Country"), required=False)
    payment_days = forms.IntegerField(
        label=_("Days to pay"), required=False, min_value=0, max_value=MOST_DAYS
    )
    electronic_address_scheme = forms.ChoiceField(label=_("Electronic address is"), required=False)
    electronic_address = forms.CharField(
        label=_("Electronic address"),
        required=False,
        max_length=200,
        help_text=TAKEN_FROM_ABOVE,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("country", dict(countries_by_name()))
        named = {code: f"{name} ({code})" for code, name in schemes().items()}
        self.offer("electronic_address_scheme", named)
        if not self.instance.electronic_address:
            proposed = [f"“{named[code]}”" for code in self._propose(vars(self.instance))]
            told = {"schemes": get_text_list(proposed, gettext("or"))}
            hint = gettext("Proposed: %(schemes)s.") % told if proposed else ""
            self.fields["electronic_address_scheme"].help_text = hint

    def offer(self, name: str, choices: Choices, *, nothing: Text = NOT_GIVEN) -> None:
        """Set the choices of a field, and offer what the record has beside them."""
        kept = getattr(self.instance, name)
        offered = {"": nothing, **choices}
        offered.setdefault(kept, mark_invisible(kept))
        cast("forms.ChoiceField", self.fields[name]).choices = offered.items()

    @override
    def clean(self) -> None:
        super().clean()
        scheme = self.cleaned_data.get("electronic_address_scheme", "")
        if not self.cleaned_data.get("electronic_address"):
            proposed = self._propose(self.cleaned_data)
            self.cleaned_data["electronic_address"] = proposed.get(scheme, "")

    def _propose(self, party: Mapping[str, Any]) -> Mapping[str, str]:
        asked = {name: party.get(name) or "" for name in ("email", "vat_number", "country")}
        return propose_addresses(**asked)


class CustomerForm(PartyForm):
    language = forms.ChoiceField(label=_("Language"), required=False)
    currency_code = forms.ChoiceField(label=_("Currency"), required=False)
    e_invoice = forms.ChoiceField(label=_("The customer wants"), required=False)
    buyer_reference = forms.CharField(
        label=_("Buyer reference"),
        required=False,
        max_length=BUYER_REFERENCE_LENGTH,
        help_text=BUYER_REFERENCE,
    )
    account_managers = PeopleField(
        label=_("Account managers"),
        help_text=_(
            "They see this customer and its documents, if they have permission to see customers and"
            " documents."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        languages = {code: name_of_language(code) for code, _name in settings.DOCUMENT_LANGUAGES}
        self.offer("language", languages)
        self.offer("currency_code", currencies())
        self.offer("e_invoice", dict(Kind.choices), nothing=gettext("No e-invoice"))


@admin.register(Customer)
class CustomerAdmin(RecordAdmin):
    form = CustomerForm
    fieldsets = (
        (None, {"fields": (("name", "customer_number"),)}),
        ADDRESS,
        (_("Tax"), {"fields": (("vat_number", "tax_number"),)}),
        (
            _("E-invoices"),
            {
                "fields": ("e_invoice", "email", ELECTRONIC_ADDRESS, "buyer_reference"),
                "description": _("Invoices carry these. Nothing is sent to them from here."),
            },
        ),
        (
            _("New documents"),
            {
                "fields": (("language", "currency_code", "payment_days"),),
                "description": _("What is filled in for this customer. Each document can differ."),
            },
        ),
        (_("In this application"), {"fields": ("account_managers", "is_watched", "is_active")}),
    )
    list_display = ("name", "city", "country_in_words", "is_active")
    list_filter = ("is_active", "e_invoice")
    search_fields = ("name", "city", "vat_number", "customer_number")
    ordering = ("name", "id")

    @admin.display(description=_("Country"))
    def country_in_words(self, customer: Customer) -> str:
        return customer.country_name

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Customer]:
        user: Any = request.user
        return self.records_of(user)

    @override
    def is_allowed(self, act: str) -> IsAllowed:
        """Let administrators who may import customers do by hand what an import does."""
        allowed = super().is_allowed(act)
        return lambda user: allowed(user) or may_administer(user, Permission.MANAGE_CUSTOMERS)

    @override
    def records_of(self, user: User) -> QuerySet[Customer]:
        return Customer.objects.all() if is_owner(user) else Customer.objects.visible_to(user)
