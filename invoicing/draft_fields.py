"""What may be asked of a draft: each field declared once, with its limits, problems and schema.

The tools' schemas, the form, what agents and people are shown and what is frozen follow from these
declarations and the models (`shown.py`). What needs the database, `services/drafts.py` judges.
Interface: Draft input, Line item.
"""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any
from uuid import UUID

from django.utils.translation import gettext_noop
from pydantic import Field, ValidationInfo, field_validator

from agent_access.fields import ToolInput, problem
from invoicing.field_kinds import (
    Amount,
    CountryCode,
    CurrencyCode,
    DiscountValue,
    ExchangeRate,
    Id,
    IsoDate,
    LanguageCode,
    Quantity,
    required_text,
    text,
)
from invoicing.totals import BASIS_POINTS, DiscountType, LineAmounts, is_discount_too_large

MAX_LINES = 100
REFERENCE_LENGTH = 100
BUYER_REFERENCE_LENGTH = 100
CORRECTION_REASON_LENGTH = 500
UNIT_LENGTH = 20

# Fields whose columns say in their names what they count.
COLUMNS: Mapping[str, str] = {
    "quantity": "quantity_ten_thousandths",
    "percentage": "percentage_ten_thousandths",
    "exchange_rate": "exchange_rate_millionths",
}

# A form words this problem otherwise: people type a percentage, not basis points.
PERCENT_PROBLEM = "percent"


class LineItemInput(ToolInput):
    """One line, in the order of the interface."""

    description: Annotated[
        str,
        required_text(1000, multiline=True),
        Field(description="What is sold; may have several lines."),
    ]
    quantity: Annotated[
        Quantity,
        Field(
            description='Positive, at most 11 digits before a dot and 4 after it, such as "1.5".'
        ),
    ]
    unit_price: Annotated[
        Amount,
        Field(
            description=(
                "Price of one unit before tax, in minor units of the currency:"
                ' "12500" is 125.00 in one of two decimals, such as EUR, 12500 JPY or 12.500 BHD.'
            )
        ),
    ]
    unit: Annotated[
        str, text(UNIT_LENGTH, always_in_facts=True), Field(description='Such as "h" or "pcs".')
    ] = ""
    discount_type: Annotated[
        Annotated[DiscountType, Field(strict=False)] | None,  # JSON has no enum but its text
        Field(description="Needs discount_value."),
    ] = None
    discount_value: Annotated[
        DiscountValue | None,
        Field(
            description=(
                "Off the whole line. percent: basis points (1000 is 10 %); amount: minor units."
            )
        ),
    ] = None
    tax_rate_id: Annotated[
        Id | None,
        Field(
            description=(
                "The ID of an active tax rate; without one the line is untaxed. The list of tools"
                " names the active rates here; no tool reads them."
            )
        ),
    ] = None

    @field_validator("discount_value")
    @classmethod
    def _fits_the_line(cls, value: int | None, info: ValidationInfo) -> int | None:
        line = info.data
        if "discount_type" not in line:
            return value
        kind = line["discount_type"]
        if (kind is None) != (value is None):
            raise problem(
                gettext_noop("goes together with the discount type: send both or neither")
            )
        if kind is DiscountType.PERCENT and value is not None and value > BASIS_POINTS:
            raise problem(f"must be at most {BASIS_POINTS} basis points (100 %)", PERCENT_PROBLEM)
        if kind is DiscountType.AMOUNT and "quantity" in line and "unit_price" in line:
            amounts = LineAmounts(line["quantity"], line["unit_price"], kind, value)
            if is_discount_too_large(amounts):
                raise problem(gettext_noop("must not be larger than quantity times unit price"))
        return value


class DraftInput(ToolInput):
    """A whole draft. Every write sends the full header and the full line set."""

    customer_id: Annotated[Id, Field(description="An active customer, from customers.search.")]
    currency_code: Annotated[CurrencyCode, Field(description="ISO 4217, such as EUR.")]
    issue_date: Annotated[
        IsoDate, Field(description="The date on the invoice, kept when it is issued later.")
    ]
    due_date: Annotated[IsoDate, Field(description="Not before issue_date.")]
    line_items: Annotated[list[LineItemInput], Field(min_length=1, max_length=MAX_LINES)]
    language: Annotated[
        LanguageCode | None,
        Field(description="The invoice's language; without it that of the installation."),
    ] = None
    notes: Annotated[
        str,
        text(5000, multiline=True, always_in_facts=True),
        Field(description="Public notes on the invoice."),
    ] = ""
    reference: Annotated[
        str,
        text(REFERENCE_LENGTH, always_in_facts=True),
        Field(description="The customer's order number or the like."),
    ] = ""

    @field_validator("due_date")
    @classmethod
    def _not_before_issue_date(cls, value: Any, info: ValidationInfo) -> Any:
        if "issue_date" in info.data and value < info.data["issue_date"]:
            raise problem(gettext_noop("must not be before the issue date"))
        return value


class PersonInput(ToolInput):
    """What only a person writes of a draft, and no tool takes or shows.

    An agent's update keeps it, but the rate ends with its currency and the buyer's reference with
    its customer.
    The date of supply is a day, or with an end a period. The exchange rate is what one unit of its
    base costs: either the document's currency in that of the company's VAT, or the other way.
    """

    supply_date: IsoDate | None = None
    supply_end_date: IsoDate | None = None
    delivery_country: CountryCode = ""
    buyer_reference: Annotated[str, text(BUYER_REFERENCE_LENGTH)] = ""
    exchange_rate: ExchangeRate | None = None
    exchange_rate_base: Annotated[str, text(3)] = ""
    exchange_rate_date: IsoDate | None = None

    @field_validator("supply_end_date")
    @classmethod
    def _ends_what_began(cls, value: date | None, info: ValidationInfo) -> date | None:
        if value is None or "supply_date" not in info.data:
            return value
        first = info.data["supply_date"]
        if first is None:
            raise problem(gettext_noop("needs the first day of the period as well"))
        if value < first:
            raise problem(gettext_noop("must not be before the first day of the period"))
        return value

    @field_validator("exchange_rate_base", "exchange_rate_date")
    @classmethod
    def _goes_with_the_rate(cls, value: Any, info: ValidationInfo) -> Any:
        if "exchange_rate" in info.data and bool(value) != bool(info.data["exchange_rate"]):
            raise problem(
                gettext_noop("goes together with the exchange rate: give both or neither")
            )
        return value


class CorrectionInput(ToolInput):
    """What a person writes of a correction: how much of each line it takes back, by the line's ID.

    The quantities are in ten-thousandths.
    """

    issue_date: IsoDate
    correction_reason: Annotated[str, required_text(CORRECTION_REASON_LENGTH)]
    quantities: dict[UUID, int]


# The text by which lists tell a customer's drafts apart.
SUBJECT = "reference"

# The optional texts: a new one is stored, shown, frozen and compared without being named elsewhere.
DRAFT_TEXTS = tuple(name for name, each in DraftInput.model_fields.items() if each.default == "")
LINE_TEXTS = tuple(name for name, each in LineItemInput.model_fields.items() if each.default == "")


def columns_of(fields: ToolInput, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the values that were asked for, by the names of their columns."""
    return {COLUMNS.get(name, name): value for name, value in fields if name not in without}
