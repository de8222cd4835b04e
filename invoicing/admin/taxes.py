"""The admin of tax rates: a change of more than their state makes a new rate."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.admin.bookkeeping import account_field
from invoicing.admin.meaning_forms import (
    NAME_FIELDS,
    NOT_CHOSEN,
    REASON_FIELDS,
    MeaningForm,
    rate_changes,
    show_rate,
)
from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.admin.tax_meanings import ask_meanings, may_say_meanings, unknown_rates
from invoicing.fixed_point import DECIMALS
from invoicing.models import TaxRate
from invoicing.totals import HUNDRED_PERCENT
from invoicing.web.typed_numbers import parse_typed, write_number

REPLACED = _(
    "If you change the name or percentage of an active rate, it becomes inactive and a new one"
    " takes its place: the rate that documents refer to never changes. Those of an inactive rate"
    " cannot be changed."
)
MEANING = _(
    "What the rate is in the law of VAT, and the texts that invoices in each language print for it:"
    " a name, if it is not the one above, and a reason if no tax is charged. Once you choose a"
    " category, we propose texts. The first choice makes approvals that are not executed yet stale;"
    " a later change makes a new rate, as above."
)
TOO_MUCH = _("A rate is at most 100 percent.")


class TaxRateForm(MeaningForm, RecordForm):
    percentage = forms.CharField(
        label=_("Percentage"), max_length=10, help_text=_("Such as 19 or 8.875.")
    )
    revenue_account = account_field(
        label=_("Revenue account"),
        help_text=_(
            "Of DATEV, if it is another than that of its category: 8300 (SKR03) for 7 %, say."
            " A change makes no new rate, and no approval stale."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        show_rate(self, self.instance)
        if not self.instance._state.adding:
            self.initial["percentage"] = write_number(self.instance.percentage)

    def clean_percentage(self) -> int:
        typed = self.cleaned_data["percentage"]
        percentage = parse_typed(typed, decimals=DECIMALS, is_percentage=True)
        if percentage > HUNDRED_PERCENT:
            raise forms.ValidationError(TOO_MUCH)
        return percentage

    @override
    def percentage_meant(self) -> int | None:
        return self.cleaned_data.get("percentage")

    @override
    def changes(self) -> dict[str, Any]:
        percentage = self.cleaned_data["percentage"]
        own = {**super().changes(), "percentage_ten_thousandths": percentage}
        return own | rate_changes(self)


@admin.register(TaxRate)
class TaxRateAdmin(RecordAdmin):
    form = TaxRateForm
    change_list_template = "admin/invoices/tax_rates.html"
    fieldsets = (
        (None, {"fields": ("name", "percentage", "is_active"), "description": REPLACED}),
        (_("Bookkeeping"), {"fields": ("revenue_account",)}),
    )
    list_display = ("name", "percent", "meaning", "is_active")
    list_filter = ("is_active", "category")
    ordering = ("-is_active", "name")

    @admin.display(description=_("percentage"), ordering="percentage_ten_thousandths")
    def percent(self, rate: TaxRate) -> str:
        return f"{write_number(rate.percentage)} %"

    @admin.display(description=_("category"), ordering="category")
    def meaning(self, rate: TaxRate) -> str:
        return rate.get_category_display() if rate.category else str(NOT_CHOSEN)

    @admin.display(description=_("texts"))
    def texts(self, rate: TaxRate) -> str:
        """Return the texts, for those who may only see them."""
        lines = [*rate.names.values(), *rate.reasons.values()]
        return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in lines))

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        may_write = self.may(request, "change" if obj else "add")
        fields = (
            ("meaning", "proposed", *zip(NAME_FIELDS, REASON_FIELDS, strict=True))
            if may_write
            else ("meaning", "texts")
        )
        first, *others = super().get_fieldsets(request, obj)
        return [first, (gettext("On paper"), {"fields": fields, "description": MEANING}), *others]

    @override
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        user: Any = request.user
        context = {"may_say_meanings": may_say_meanings(user), "unknown": unknown_rates().count()}
        return super().changelist_view(request, {**context, **(extra_context or {})})

    @override
    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view(self.ask_meanings)
        return [path("meanings", guarded, name="tax-meanings"), *super().get_urls()]

    def ask_meanings(self, request: HttpRequest) -> HttpResponse:
        return ask_meanings(request, {**self.admin_site.each_context(request), "opts": self.opts})
