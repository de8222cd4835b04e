"""The admin of customers: of those in the administrator's scope."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from typing_extensions import override

from invoicing.admin.fields import PeopleField
from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.languages import countries_by_name
from invoicing.models import Customer, User
from invoicing.rights import is_owner

ADDRESS = ("street", ("postcode", "city"), "country", "vat_number")


class PartyForm(RecordForm):
    """The form of a party to an invoice, whose country is chosen from a list."""

    country = forms.ChoiceField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = {"": "Not given", **dict(countries_by_name())}
        # An old value that is no country stays until somebody chooses another one.
        choices.setdefault(self.instance.country, self.instance.country)
        cast("forms.ChoiceField", self.fields["country"]).choices = choices.items()


class CustomerForm(PartyForm):
    account_managers = PeopleField(
        help_text=(
            "They see this customer and its documents, if they have permission to see customers and"
            " documents."
        )
    )


@admin.register(Customer)
class CustomerAdmin(RecordAdmin):
    form = CustomerForm
    fields = ("name", *ADDRESS, "account_managers", "is_active")
    list_display = ("name", "city", "country_in_words", "is_active")
    list_filter = ("is_active",)
    search_fields = ("name", "city", "vat_number")
    ordering = ("name", "id")

    @admin.display(description="Country")
    def country_in_words(self, customer: Customer) -> str:
        return customer.country_name

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[Customer]:
        user: Any = request.user
        return self.records_of(user)

    @override
    def records_of(self, user: User) -> QuerySet[Customer]:
        return Customer.objects.all() if is_owner(user) else Customer.objects.visible_to(user)
