"""The admin of the company: its facts as they stand on invoices, and its owner."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from stdnum import bic, iban
from stdnum.exceptions import ValidationError as StdnumError
from typing_extensions import override

from invoicing.admin.customers import ADDRESS, ELECTRONIC_ADDRESS, PartyForm, currencies
from invoicing.admin.evidence import download_verifier, export_evidence
from invoicing.admin.ownership import transfer
from invoicing.admin.passkey_rule import choose_passkey_rule, give_options
from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.admin.tax_meanings import may_say_meanings
from invoicing.administration.acts import actor_of
from invoicing.administration.records import create_company
from invoicing.errors import UnknownCurrencyError
from invoicing.languages import currency_of_country
from invoicing.models import Company, Logo
from invoicing.money import MAX_AMOUNT, minor_unit
from invoicing.rights import is_owner, may_create_company
from invoicing.services.issue_warnings import check_company
from invoicing.services.logos import MAX_BYTES, MAX_SIDE, read_logo
from invoicing.web.typed_numbers import format_typed, parse_typed

MISTYPED_IBAN = _("This is not an IBAN. Compare it with the one that your bank gave you.")
MISTYPED_BIC = _("This is not a BIC: that has 8 or 11 letters and digits.")
PICTURE = '<img class="logo" src="{}" alt="{}">'
ALTERNATIVE = _("The logo of the company")
DAYS_TO_PAY = _(
    "How many days after its issue date a new document is due, unless the customer has other terms."
)
LOGO_LIMITS = _("A PNG of at most {kilobytes} kB and {pixels} pixels wide and high.")
FOOTER_LENGTH = 1000
WATCHED_AMOUNTS = _(
    "Whoever issues or approves a document whose total reaches the amount for its currency is"
    " always warned. One line for each currency, such as EUR 10000.00."
)
MISTYPED_AMOUNT = _("“%(line)s”: write a currency and an amount, such as EUR 10000.00.")
AMOUNT_TWICE = _("“%(line)s”: the currency has an amount already.")
# What nearly all currencies have.
WITHDRAWN_DECIMALS = 2
# Longer than the numbers, with room for spaces and hyphens that people type.
TYPED_LENGTH = 60


class WatchedAmountsField(forms.CharField):
    """Amounts by currency, in its minor unit, as lines of text."""

    widget = forms.Textarea(attrs={"rows": 3})

    @override
    def prepare_value(self, value: Any) -> Any:
        """Return the text of amounts; what was typed stays as it is."""
        return _write_amounts(value) if isinstance(value, dict) else value

    @override
    def clean(self, value: Any) -> Any:
        amounts: dict[str, int] = {}
        for line in filter(None, map(str.strip, super().clean(value).splitlines())):
            code, amount = _read_amount(line)
            if code in amounts:
                raise ValidationError(AMOUNT_TWICE, params={"line": line})
            amounts[code] = amount
        return amounts


def _write_amounts(amounts: Mapping[str, int]) -> str:
    return "\n".join(
        f"{code} {format_typed(amount, decimals=_decimals_of(code))}"
        for code, amount in amounts.items()
    )


def _decimals_of(code: str) -> int:
    """Return the decimals of a currency: two of one that was withdrawn after it was saved."""
    try:
        return minor_unit(code)
    except UnknownCurrencyError:
        return WITHDRAWN_DECIMALS


def _read_amount(line: str) -> tuple[str, int]:
    """Return a currency, and an amount in its minor unit; raises ValidationError."""
    code, _space, typed = line.partition(" ")
    try:
        amount = parse_typed(typed, decimals=minor_unit(code.upper()))
    except UnknownCurrencyError:
        raise ValidationError(MISTYPED_AMOUNT, params={"line": line}) from None
    if amount > MAX_AMOUNT:
        raise ValidationError(MISTYPED_AMOUNT, params={"line": line})
    return code.upper(), amount


class CompanyForm(PartyForm):
    """IBAN and BIC may be typed with spaces; they are checked, and kept without.

    The logo is read from a file, which is not kept itself.
    """

    national_currency = forms.ChoiceField(label=_("Currency of its taxes"), required=False)
    footer_text = forms.CharField(
        label=_("Footer text"),
        required=False,
        max_length=FOOTER_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    watched_amounts = WatchedAmountsField(
        label=_("Warn from"), required=False, max_length=1000, help_text=WATCHED_AMOUNTS
    )
    logo_file = forms.FileField(
        label=_("New logo"),
        required=False,
        widget=forms.FileInput(attrs={"accept": "image/png"}),
        help_text=format_lazy(LOGO_LIMITS, kilobytes=MAX_BYTES // 1000, pixels=MAX_SIDE),
    )
    remove_logo = forms.BooleanField(label=_("Remove the logo"), required=False)
    iban = forms.CharField(label=_("IBAN"), required=False, max_length=TYPED_LENGTH)
    bic = forms.CharField(label=_("BIC"), required=False, max_length=TYPED_LENGTH)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["iban"] = iban.format(self.instance.iban)
        own = currency_of_country(self.instance.country)
        told = gettext("As in its country (%(currency)s)") % {"currency": own}
        told = told if own else gettext("As in its country")
        self.offer("national_currency", currencies(), nothing=told)
        self.fields["payment_days"].help_text = DAYS_TO_PAY

    def clean_logo_file(self) -> Logo | None:
        upload = self.cleaned_data["logo_file"]
        if not upload:
            return None
        upload.seek(0)  # a refused act has the form read twice
        return read_logo(upload.read())

    @override
    def changes(self) -> dict[str, Any]:
        logo = self.cleaned_data["logo_file"]
        is_changed = logo or self.cleaned_data["remove_logo"]
        return super().changes() | ({"logo": logo} if is_changed else {})

    def clean_iban(self) -> str:
        return _read_number(self.cleaned_data["iban"], iban.validate, mistyped=MISTYPED_IBAN)

    def clean_bic(self) -> str:
        return _read_number(self.cleaned_data["bic"], bic.validate, mistyped=MISTYPED_BIC)


def _read_number(typed: str, read: Callable[[str], str], *, mistyped: Any) -> str:
    """Return an IBAN (ISO 13616) or BIC (ISO 9362) in its compact form; empty stays empty."""
    if not typed:
        return typed
    try:
        number = read(typed)
    except StdnumError:
        raise ValidationError(mistyped) from None
    if not number.isascii():  # the library takes the digits of any script
        raise ValidationError(mistyped)
    return number


@admin.register(Company)
class CompanyAdmin(RecordAdmin):
    form = CompanyForm
    change_form_template = "admin/invoices/company.html"
    readonly_fields = ("owned_by", "watched_from")
    fieldsets = (
        (
            None,
            {
                "fields": ("name", "owned_by"),
                "description": _(
                    "Every invoice that is issued from now on shows what this page says; an issued"
                    " one keeps what it was issued with. A change makes approvals that are not"
                    " executed yet stale."
                ),
            },
        ),
        ADDRESS,
        (
            _("Tax"),
            {
                "fields": (("vat_number", "tax_number"), "registration", "national_currency"),
                "description": _(
                    "An invoice in another currency than that of the taxes states its tax in both."
                ),
            },
        ),
        (_("Contact"), {"fields": ("contact_name", ("email", "phone"))}),
        (
            _("E-invoices"),
            {
                "fields": (ELECTRONIC_ADDRESS,),
                "description": _("Where replies to your e-invoices go."),
            },
        ),
        (_("Bank"), {"fields": ("iban", "bic"), "description": _("Where your customers pay.")}),
        (_("Documents"), {"fields": ("payment_days", "footer_text")}),
    )

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Company | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        may_change = not obj or self.has_change_permission(request, obj)
        watched = "watched_amounts" if may_change else "watched_from"
        return [
            *fieldsets,
            (_("Warnings"), {"fields": [watched]}),
            (_("Logo"), self._logo(obj, may_change=may_change)),
        ]

    def _logo(self, company: Company | None, *, may_change: bool) -> dict[str, Any]:
        """Return what the page shows of the logo: the picture, and how to change it."""
        logo = company.logo_id if company else None
        shown = (
            format_html(PICTURE, reverse("logo", args=[logo]), ALTERNATIVE)
            if logo
            else gettext("There is none.")
        )
        fields = ["logo_file", "remove_logo"] if logo else ["logo_file"]
        return {"fields": fields if may_change else [], "description": shown}

    @admin.display(description=_("owner"))
    def owned_by(self, company: Company) -> str:
        """Return the name alone: Django's link to it is no use to who may not see people."""
        return str(company.owner)

    @admin.display(description=_("Warn from"))
    def watched_from(self, company: Company) -> str:
        return _write_amounts(company.watched_amounts)

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        user: Any = request.user
        return may_create_company(user)

    @override
    def create(self, request: HttpRequest, form: RecordForm) -> Model:
        return create_company(actor_of(request), form.changes())

    @override
    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        """Say that one is the owner now, and lead to what comes next."""
        told = _("You added %(name)s, and are its owner now: only you decide about agents.")
        messages.success(request, told % {"name": obj.name})
        return redirect("setup")

    @override
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Redirect to the one company."""
        company = Company.objects.first()
        if company and self.has_view_or_change_permission(request):
            return redirect("admin:invoices_company_change", company.pk)
        return super().changelist_view(request, extra_context)

    @override
    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> Any:
        user: Any = request.user
        context["is_owner"] = is_owner(user)
        context["may_say_meanings"] = may_say_meanings(user)
        # As it is saved: the form writes what was typed into its own.
        company = Company.objects.first()
        context["checks"] = [*check_company(company)] if company else []
        return super().render_change_form(request, context, *args, **kwargs)

    @override
    def get_urls(self) -> list[URLPattern]:
        guard = self.admin_site.admin_view
        own = [
            path("evidence", guard(self.evidence), name="export-evidence"),
            path("evidence/verifier", guard(download_verifier), name="evidence-verifier"),
            path("passkeys", guard(self.passkeys), name="passkey-rule"),
            path("passkeys/options", guard(give_options), name="passkey-rule-options"),
            path("transfer", guard(self.transfer), name="transfer-ownership"),
        ]
        return [*own, *super().get_urls()]

    def evidence(self, request: HttpRequest) -> HttpResponseBase:
        return export_evidence(request, self._context(request))

    def passkeys(self, request: HttpRequest) -> HttpResponse:
        return choose_passkey_rule(request, self._context(request))

    def transfer(self, request: HttpRequest) -> HttpResponse:
        return transfer(request, self._context(request))

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "opts": self.opts}
