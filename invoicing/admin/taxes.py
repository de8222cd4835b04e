"""The admin of tax rates: a change of name or percentage makes a new rate."""

from typing import Any

from django import forms
from django.contrib import admin
from typing_extensions import override

from invoicing.admin.records import RecordAdmin, RecordForm
from invoicing.fixed_point import DECIMALS
from invoicing.models import TaxRate
from invoicing.totals import HUNDRED_PERCENT
from invoicing.web.typed_numbers import parse_typed

REPLACED = (
    "If you change the name or percentage of an active rate, it becomes inactive and a new one"
    " takes its place: the rate that documents refer to never changes. Those of an inactive rate"
    " cannot be changed."
)
TOO_MUCH = "A rate is at most 100 percent."


class TaxRateForm(RecordForm):
    percentage = forms.CharField(max_length=10, help_text="Such as 19 or 8.875.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            self.initial["percentage"] = self.instance.percentage

    def clean_percentage(self) -> int:
        typed = self.cleaned_data["percentage"]
        percentage = parse_typed(typed, decimals=DECIMALS, is_percentage=True)
        if percentage > HUNDRED_PERCENT:
            raise forms.ValidationError(TOO_MUCH)
        return percentage

    @override
    def changes(self) -> dict[str, Any]:
        percentage = self.cleaned_data["percentage"]
        return {**super().changes(), "percentage_ten_thousandths": percentage}


@admin.register(TaxRate)
class TaxRateAdmin(RecordAdmin):
    form = TaxRateForm
    fieldsets = ((None, {"fields": ("name", "percentage", "is_active"), "description": REPLACED}),)
    list_display = ("name", "percent", "is_active")
    list_filter = ("is_active",)
    ordering = ("-is_active", "name")

    @admin.display(description="percentage", ordering="percentage_ten_thousandths")
    def percent(self, rate: TaxRate) -> str:
        return f"{rate.percentage} %"
