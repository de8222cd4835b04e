"""The admin of what a tax adviser who uses DATEV gave: numbers, and accounts of revenue."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.validators import RegexValidator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.dates import MONTHS
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.administration.records import IsAllowed
from invoicing.models import DatevSettings, TaxCategory

LEAST_ADVISER, MOST_ADVISER = 1001, 9_999_999
MOST_CLIENT = 99_999
LENGTHS = range(4, 9)

# Accounts that compute the tax themselves, of the two usual charts: SKR03 and SKR04.
USUAL_ACCOUNTS = {
    TaxCategory.STANDARD: ("8400", "4400"),
    TaxCategory.ZERO: ("8290", "4290"),
    TaxCategory.EXEMPT: ("8100", "4100"),
    TaxCategory.REVERSE_CHARGE: ("8336", "4336"),
    TaxCategory.INTRA_COMMUNITY: ("8125", "4125"),
    TaxCategory.EXPORT: ("8120", "4120"),
    TaxCategory.OUTSIDE_SCOPE: ("8338", "4338"),
}
ACCOUNTS = _(
    "Accounts that compute the tax themselves (“Automatikkonten”), of the rates of each category. A"
    " tax rate may have one of its own: on its page, such as that of 7 %. The numbers named here"
    " are usual ones; ask your tax adviser for yours."
)
DIGITS = RegexValidator(r"^[1-9][0-9]*$", _("Write the digits of an account."))
CHARTS = ("skr03", "skr04")
USUALLY = _("Usually {skr03} (SKR03) or {skr04} (SKR04).")
OTHER_LENGTH = _("An account has %(length)s digits here.")


def account_field(**more: Any) -> forms.CharField:
    """Return the field of a revenue account; whether it is long enough is seen by an export."""
    return forms.CharField(
        required=False,
        min_length=LENGTHS[0],
        max_length=LENGTHS[-1],
        validators=[DIGITS],
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
        **more,
    )


class DatevSettingsForm(RecordForm):
    """The settings, with a field for the account of each tax category."""

    adviser = forms.IntegerField(
        label=_("Number of the adviser"), min_value=LEAST_ADVISER, max_value=MOST_ADVISER
    )
    client = forms.IntegerField(label=_("Number of the client"), min_value=1, max_value=MOST_CLIENT)
    year_begins = forms.TypedChoiceField(
        label=_("First month of the fiscal year"), choices=list(MONTHS.items()), coerce=int
    )
    account_length = forms.TypedChoiceField(
        label=_("Digits of an account"),
        choices=[(length, str(length)) for length in LENGTHS],
        coerce=int,
        help_text=_("A customer number needs one digit more, the first of them 1 to 6: a debtor."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for category, name in ACCOUNT_FIELDS.items():
            self.initial[name] = self.instance.accounts.get(category, "")

    @override
    def clean(self) -> None:
        length = self.cleaned_data.get("account_length")
        for name in ACCOUNT_FIELDS.values():
            account = self.cleaned_data.get(name)
            if account and length and len(account) != length:
                self.add_error(name, OTHER_LENGTH % {"length": length})
        super().clean()

    @override
    def changes(self) -> dict[str, Any]:
        accounts = {
            category.value: account
            for category, name in ACCOUNT_FIELDS.items()
            if (account := self.cleaned_data[name])
        }
        return {**super().changes(), "accounts": accounts}


ACCOUNT_FIELDS = {category: f"account_{category.lower()}" for category in TaxCategory}
for _category, _name in ACCOUNT_FIELDS.items():
    _usual = format_lazy(USUALLY, **dict(zip(CHARTS, USUAL_ACCOUNTS[_category], strict=True)))
    DatevSettingsForm.base_fields[_name] = account_field(label=_category.label, help_text=_usual)


@admin.register(DatevSettings)
class DatevSettingsAdmin(RecordAdmin):
    """One record: it is added once, and then only changed."""

    form = DatevSettingsForm
    fieldsets = (
        (
            None,
            {
                "fields": (("adviser", "client"), ("year_begins", "account_length")),
                "description": _(
                    "As your tax adviser gave them to you, for the export of bookings."
                ),
            },
        ),
        (
            _("Revenue accounts"),
            {"fields": tuple(ACCOUNT_FIELDS.values()), "description": ACCOUNTS},
        ),
    )

    @override
    def is_allowed(self, act: str) -> IsAllowed:
        """Let who may change it add it, while there is none."""
        if act != "add":
            return super().is_allowed(act)
        may_change = super().is_allowed("change")
        return lambda user: may_change(user) and not DatevSettings.objects.exists()

    @override
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Redirect to the one record, or to its form."""
        settings = DatevSettings.objects.first()
        if settings and self.has_view_or_change_permission(request):
            return redirect("admin:invoices_datevsettings_change", settings.pk)
        if self.has_add_permission(request):
            return redirect("admin:invoices_datevsettings_add")
        return super().changelist_view(request, extra_context)
