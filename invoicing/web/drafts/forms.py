"""The forms of a draft's header, of what only people write, and of its lines.

They read only what people write in another way than programs, numbers and dates, and clean it to
the notation of the wire. Every limit is judged by the rules of the tools (`draft_fields.py`).
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from django import forms
from django.core.validators import MinValueValidator
from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from typing_extensions import override

from invoicing.draft_fields import MAX_LINES, PERCENT_PROBLEM
from invoicing.field_kinds import AMOUNT_PROBLEM
from invoicing.fixed_point import DECIMALS, format_fixed_point
from invoicing.money import RATE_DECIMALS
from invoicing.totals import DiscountType
from invoicing.web.typed_numbers import MistypedNumberError, parse_typed

Options = list[tuple[str, str | Promise]]

NUMBER_LENGTH = 30
PERCENT_DECIMALS = 2
FIRST_DAY = date(1900, 1, 1)
# The widths of what stands in the row of a line, as classes of the style sheet.
COLUMNS = ("description", "figure", "word", "pick")
# Stands for the currency of the invoice, whichever is chosen beside it.
INVOICE_CURRENCY = "invoice"
FOUR_DIGITS = _("Write the year with four digits, such as 2026.")
# By code of the problem, in place of texts about minor units and basis points.
NUMBER_MESSAGES = {
    AMOUNT_PROBLEM: _("Must be a whole number of at most 18 digits."),
    PERCENT_PROBLEM: _("Must be at most 100 %."),
}


def _number(label: Any, *, required: bool = True, width: str = "") -> forms.CharField:
    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    field = forms.CharField(
        label=label,
        required=required,
        max_length=NUMBER_LENGTH,
        widget=widget,
        error_messages=NUMBER_MESSAGES,
    )
    field.width = width  # type: ignore[attr-defined]  # as in _text()
    return field


def _list(label: Any) -> forms.TypedChoiceField:
    field = forms.TypedChoiceField(label=label, required=False, empty_value=None)
    field.width = "pick"  # type: ignore[attr-defined]  # as in _text()
    return field


def _text(label: Any, *, rows: int = 0, required: bool = False, width: str = "") -> forms.CharField:
    # The rules limit the length. A form field would count CR LF as two, and a browser an emoji: it
    # would cut what is pasted, and send no form with a changed text that an agent may write.
    attrs = {"dir": "auto"}
    widget = forms.Textarea(attrs={**attrs, "rows": rows}) if rows else forms.TextInput(attrs=attrs)
    field = forms.CharField(label=label, required=required, strip=False, widget=widget)
    field.width = width  # type: ignore[attr-defined]  # a class of the style sheet
    return field


def date_field(label: Any, *, required: bool = True) -> forms.DateField:
    # Of a year typed with two digits browsers make the year 26. With a maximum, none has five.
    attributes = {"type": "date", "min": FIRST_DAY.isoformat(), "max": date.max.isoformat()}
    return forms.DateField(
        label=label,
        required=required,
        widget=forms.DateInput(attrs=attributes, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        validators=[MinValueValidator(FIRST_DAY, FOUR_DIGITS)],
    )


class DraftForm(forms.Form):
    """A form whose lists offer these options, by the names of their fields.

    Numbers and dates are cleaned to the notation of the wire.
    """

    def __init__(self, *args: Any, options: Mapping[str, Options], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields.keys() & options.keys():
            self.fields[name].choices = options[name]  # type: ignore[attr-defined]  # a ChoiceField

    @override
    def clean(self) -> None:
        for name, value in self.cleaned_data.items():
            if isinstance(value, date):
                self.cleaned_data[name] = value.isoformat()

    def _read(
        self,
        name: str,
        *,
        decimals: int,
        write: Callable[[int], str] = str,
        is_percentage: bool = False,
    ) -> None:
        text = self.cleaned_data.get(name)
        if not text:
            self.cleaned_data[name] = None
            return
        try:
            number = parse_typed(text, decimals=decimals, is_percentage=is_percentage)
            self.cleaned_data[name] = write(number)
        except MistypedNumberError as mistake:
            self.add_error(name, mistake)


class HeaderForm(DraftForm):
    """The header of a draft: the fields of DraftInput except its lines."""

    customer_id = forms.ChoiceField(label=_("Customer"))
    customer_id.width = "w4"  # type: ignore[attr-defined]  # as in _text()
    issue_date = date_field(_("Issue date"))
    due_date = date_field(_("Due date"))
    currency_code = forms.ChoiceField(label=_("Currency"))
    language = forms.ChoiceField(label=_("Language"))
    reference = _text(_("Reference"), width="w4")
    notes = _text(_("Notes on the invoice"), rows=3)

    def brief_fields(self) -> list[BoundField]:
        """Return the fields above the lines."""
        return [field for field in self if not isinstance(field.field.widget, forms.Textarea)]

    def long_fields(self) -> list[BoundField]:
        """Return the fields below the lines: texts of several lines."""
        return [field for field in self if isinstance(field.field.widget, forms.Textarea)]


class PersonForm(DraftForm):
    """The fields of PersonInput."""

    supply_date = date_field(_("Date of supply"), required=False)
    supply_end_date = date_field(_("Until, if it is a period"), required=False)
    delivery_country = forms.ChoiceField(label=_("Country of delivery"), required=False)
    buyer_reference = _text(_("Buyer’s reference"))  # noqa: RUF001  an apostrophe for readers
    exchange_rate = _number(_("Exchange rate"), required=False)
    exchange_rate_base = forms.ChoiceField(label=_("It is the price of"), required=False)
    exchange_rate_base.width = "w6"  # type: ignore[attr-defined]  # as in _text()
    exchange_rate_date = date_field(_("Date of the rate"), required=False)

    @override
    def clean(self) -> None:
        super().clean()
        self._read("exchange_rate", decimals=RATE_DECIMALS, write=_write_rate)
        # The list always has one selected; without a rate it means nothing.
        if self.cleaned_data.get("exchange_rate") is None:
            self.cleaned_data["exchange_rate_base"] = ""
        elif self.cleaned_data.get("exchange_rate_base") == INVOICE_CURRENCY:
            self.cleaned_data["exchange_rate_base"] = self.data["currency_code"]
        # What belongs to a mistyped one cannot be judged.
        for name, other in (
            ("supply_date", "supply_end_date"),
            ("exchange_rate", "exchange_rate_date"),
        ):
            if name in self.errors:
                self.cleaned_data[other] = None

    @property
    def is_filled(self) -> bool:
        """Return whether anything is set or wrong; one base of a rate is always selected."""
        texts = (field.value() for field in self if field.name != "exchange_rate_base")
        return bool(self.errors) or any(texts)


def _write_rate(millionths: int) -> str:
    return format_fixed_point(millionths, decimals=RATE_DECIMALS)


class LineForm(DraftForm):
    """The fields of LineItemInput.

    `reading` says how the numbers were understood, and `amount` what they come to, once they are
    calculated.
    """

    reading = amount = ""

    description = _text(_("Description"), rows=1, required=True, width="description")
    quantity = _number(_("Quantity"), width="figure")
    unit = _text(_("Unit"), width="word")
    unit_price = _number(_("Unit price"), width="figure")
    discount_value = _number(_("Discount"), required=False, width="figure")
    discount_type = _list(_("Discount in"))
    tax_rate_id = _list(_("Tax"))

    def __init__(self, *args: Any, minor_unit: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.minor_unit = minor_unit

    def columns(self) -> list[BoundField]:
        """Return the fields that stand in the row of the line."""
        return [field for field in self if _width_of(field) in COLUMNS]

    def further_fields(self) -> list[BoundField]:
        """Return those that stand below it."""
        return [field for field in self if _width_of(field) not in COLUMNS]

    @override
    def clean(self) -> None:
        self._read("quantity", decimals=DECIMALS, write=format_fixed_point)
        self._read("unit_price", decimals=self.minor_unit)
        is_percent = self.cleaned_data.get("discount_type") == DiscountType.PERCENT
        decimals = PERCENT_DECIMALS if is_percent else self.minor_unit
        self._read("discount_value", decimals=decimals, is_percentage=is_percent)
        # The list always has a type selected; without a value it means nothing, and neither does a
        # value without a type.
        if "discount_type" in self.errors or self.cleaned_data.get("discount_value") is None:
            self.cleaned_data |= {"discount_type": None, "discount_value": None}


def _width_of(field: BoundField) -> str:
    return str(getattr(field.field, "width", ""))


# One more than allowed, so that it is refused and not cut.
LineFormSet = forms.formset_factory(
    LineForm, extra=0, max_num=MAX_LINES, absolute_max=MAX_LINES + 1
)
LINES_PREFIX = "line"
# The fields beside the lines, by name.
HEADER_FIELDS: Mapping[str, forms.Field] = HeaderForm.base_fields | PersonForm.base_fields
