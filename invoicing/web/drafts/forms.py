"""The forms of a draft's header and of a line, as people fill them in."""

from datetime import date
from typing import Any
from uuid import UUID

from django import forms
from django.core.validators import MinValueValidator
from typing_extensions import override

from invoicing.fixed_point import DECIMALS
from invoicing.totals import DiscountType
from invoicing.web.drafts.choices import Choices
from invoicing.web.typed_numbers import MistypedNumberError, parse_typed

NUMBER_LENGTH = 30
PERCENT_DECIMALS = 2
FIRST_DAY = date(1900, 1, 1)
FOUR_DIGITS = "Write the year with four digits, such as 2026."


def _number(label: str, *, required: bool = True) -> forms.CharField:
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return forms.CharField(label=label, required=required, max_length=NUMBER_LENGTH, widget=widget)


def _text(label: str, *, rows: int = 0, required: bool = False) -> forms.CharField:
    # The service limits the length. A form field would count CR LF as two, and a browser an emoji:
    # it would cut what is pasted, and send no form with a changed text that an agent may write.
    attrs = {"dir": "auto"}
    widget = forms.Textarea(attrs={**attrs, "rows": rows}) if rows else forms.TextInput(attrs=attrs)
    return forms.CharField(label=label, required=required, strip=False, widget=widget)


def _date(label: str) -> forms.DateField:
    # Of a year typed with two digits browsers make the year 26. With a maximum, none has five.
    attributes = {"type": "date", "min": FIRST_DAY.isoformat(), "max": date.max.isoformat()}
    return forms.DateField(
        label=label,
        widget=forms.DateInput(attrs=attributes, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        validators=[MinValueValidator(FIRST_DAY, FOUR_DIGITS)],
    )


class HeaderForm(forms.Form):
    """The header of a draft: the fields of DraftInput except its lines."""

    customer_id = forms.TypedChoiceField(label="Customer", coerce=UUID)
    issue_date = _date("Issue date")
    due_date = _date("Due date")
    currency_code = forms.ChoiceField(label="Currency")
    language = forms.ChoiceField(label="Language")
    reference = _text("Reference")
    notes = _text("Notes on the invoice", rows=3)

    def __init__(self, *args: Any, choices: Choices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, options in choices.of_header.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]  # a ChoiceField


class LineForm(forms.Form):
    """The fields of LineInput: amounts are typed in the currency, cleaned to its minor units.

    `reading` says how the numbers were understood, once they are calculated.
    """

    reading = ""

    description = _text("Description", rows=2, required=True)
    quantity = _number("Quantity")
    unit = _text("Unit")
    unit_price = _number("Unit price")
    discount_value = _number("Discount", required=False)
    discount_type = forms.TypedChoiceField(
        label="Discount in", required=False, coerce=DiscountType, empty_value=None
    )
    tax_rate_id = forms.TypedChoiceField(label="Tax", required=False, coerce=UUID, empty_value=None)

    def __init__(self, *args: Any, choices: Choices, minor_unit: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.minor_unit = minor_unit
        for name, options in choices.of_line.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]  # a ChoiceField

    @override
    def clean(self) -> None:
        self._parse("quantity", decimals=DECIMALS)
        self._parse("unit_price", decimals=self.minor_unit)
        is_percent = self.cleaned_data.get("discount_type") == DiscountType.PERCENT
        decimals = PERCENT_DECIMALS if is_percent else self.minor_unit
        self._parse("discount_value", decimals=decimals, is_percentage=is_percent)
        if self.cleaned_data.get("discount_value") is None:
            # The list always has a type selected; without a value it means nothing.
            self.cleaned_data["discount_type"] = None

    def _parse(self, name: str, *, decimals: int, is_percentage: bool = False) -> None:
        text = self.cleaned_data.get(name)
        try:
            self.cleaned_data[name] = (
                parse_typed(text, decimals=decimals, is_percentage=is_percentage) if text else None
            )
        except MistypedNumberError as mistake:
            self.add_error(name, str(mistake))
