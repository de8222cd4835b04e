"""The input of each tool: the interface's fields and limits as strict models, without extras.

Amounts arrive as strings of minor units and are kept as integers; quantities in ten-thousandths.
"""

import re
from datetime import date
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from agent_access.inputs import NOT_A_STRING, WHOLE, OptionalId, RecordId, problem
from agent_access.tools import JSONSchema, ToolInput
from invoicing import draft_rules
from invoicing.errors import ControlCharacterError
from invoicing.fixed_point import parse_fixed_point
from invoicing.money import AMOUNT_DIGITS
from invoicing.search.paging import SEARCH_LENGTH
from invoicing.text import normalise_text
from invoicing.totals import BASIS_POINTS, DiscountType, gross_amount

DEFAULT_LIMIT = 25
MAX_LIMIT = 50
NONCE_LENGTH = 200
MAX_LOCK_VERSION = 2**31 - 1

AMOUNT_PATTERN = rf"^(0|[1-9][0-9]{{0,{AMOUNT_DIGITS - 1}}})$"
AMOUNT_SCHEMA: JSONSchema = {"type": "string", "pattern": AMOUNT_PATTERN}
# Each message names the unit: told "a whole number", a model corrects "84.30" to "84".
DIGITS = f"in at most {AMOUNT_DIGITS} digits without leading zeros"
PRICE = f'must be a string of minor units, such as "12500" for 125.00 EUR, {DIGITS}'
DISCOUNT = (
    'must be a string of basis points for percent ("1000" is 10 %) or of minor units for amount,'
    f" {DIGITS}"
)
# Not zero, without look-ahead, which not every implementation of JSON Schema supports.
FRACTION_PATTERN = r"[1-9][0-9]{0,3}|0[1-9][0-9]{0,2}|00[1-9][0-9]?|000[1-9]"
QUANTITY_PATTERN = rf"^([1-9][0-9]{{0,10}}(\.[0-9]{{1,4}})?|0\.({FRACTION_PATTERN}))$"
DATE_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
DATE_SCHEMA: JSONSchema = {"type": "string", "format": "date", "pattern": DATE_PATTERN}
# A UUIDv7, or nothing.
CURSOR_PATTERN = (
    r"^([0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12})?$"
)
CURRENCY_PATTERN = r"^[A-Z]{3}$"
LANGUAGE_PATTERN = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"


def _match(value: Any, *, pattern: str, text: str, no_string: str = NOT_A_STRING) -> str:
    if not isinstance(value, str):
        raise problem(no_string)
    if not re.fullmatch(pattern, value):
        raise problem(text)
    return value


def _parse_date(value: Any) -> date:
    text = _match(value, pattern=DATE_PATTERN, text="must be a date written YYYY-MM-DD")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise problem("must be a date that exists") from None


def _parse_quantity(value: Any) -> int:
    return parse_fixed_point(_match(value, pattern=QUANTITY_PATTERN, text=draft_rules.QUANTITY))


def _parse_unsigned(value: Any, *, text: str) -> int:
    return int(_match(value, pattern=AMOUNT_PATTERN, text=text, no_string=text))


def _check_cursor(value: UUID | None) -> UUID | None:
    """Refuse an ID that is no UUIDv7: the empty page behind it would be taken for the end."""
    if value is not None and not re.fullmatch(CURSOR_PATTERN, str(value)):
        raise problem("must be the value of next from an earlier page")
    return value


def _clean(value: str, *, longest: int, multiline: bool = False) -> str:
    try:
        text = normalise_text(value, multiline=multiline)
    except ControlCharacterError:
        raise problem(draft_rules.CHARACTERS) from None
    if len(text) > longest:
        raise problem(draft_rules.LENGTH.format(longest=longest))
    return text


def _clean_description(value: str) -> str:
    text = _clean(value, longest=draft_rules.DESCRIPTION_LENGTH, multiline=True)
    if not text:
        raise problem(draft_rules.DESCRIPTION)
    return text


Cursor = Annotated[
    OptionalId,
    AfterValidator(_check_cursor),
    WithJsonSchema({"type": ["string", "null"], "pattern": CURSOR_PATTERN}),
]
IsoDate = Annotated[date, BeforeValidator(_parse_date), WithJsonSchema(DATE_SCHEMA)]
Quantity = Annotated[
    int,
    BeforeValidator(_parse_quantity),
    WithJsonSchema({"type": "string", "pattern": QUANTITY_PATTERN}),
]
UnitPrice = Annotated[
    int, BeforeValidator(partial(_parse_unsigned, text=PRICE)), WithJsonSchema(AMOUNT_SCHEMA)
]
DiscountValue = Annotated[
    int, BeforeValidator(partial(_parse_unsigned, text=DISCOUNT)), WithJsonSchema(AMOUNT_SCHEMA)
]
Currency = Annotated[
    str,
    BeforeValidator(
        partial(_match, pattern=CURRENCY_PATTERN, text="must be three capital letters (ISO 4217)")
    ),
    WithJsonSchema({"type": "string", "pattern": CURRENCY_PATTERN}),
]
Language = Annotated[
    str,
    BeforeValidator(partial(_match, pattern=LANGUAGE_PATTERN, text="must be a language code")),
    WithJsonSchema({"type": "string", "pattern": LANGUAGE_PATTERN}),
]
Description = Annotated[
    str,
    AfterValidator(_clean_description),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": draft_rules.DESCRIPTION_LENGTH}),
]
Unit = Annotated[
    str,
    AfterValidator(partial(_clean, longest=draft_rules.UNIT_LENGTH)),
    WithJsonSchema({"type": "string", "maxLength": draft_rules.UNIT_LENGTH}),
]
Reference = Annotated[
    str,
    AfterValidator(partial(_clean, longest=draft_rules.REFERENCE_LENGTH)),
    WithJsonSchema({"type": "string", "maxLength": draft_rules.REFERENCE_LENGTH}),
]
Notes = Annotated[
    str,
    AfterValidator(partial(_clean, longest=draft_rules.NOTES_LENGTH, multiline=True)),
    WithJsonSchema({"type": "string", "maxLength": draft_rules.NOTES_LENGTH}),
]


class PageInput(ToolInput):
    """A search and a place in a list. Interface: Limits."""

    search: Annotated[
        str | None,
        Field(
            max_length=SEARCH_LENGTH,
            description="Words; a record is found if each of them begins one of its words.",
        ),
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Records per page."), WHOLE] = (
        DEFAULT_LIMIT
    )
    after: Annotated[Cursor, Field(description="The value of next from the previous page.")] = None


class PeoplePageInput(PageInput):
    team_id: Annotated[OptionalId, Field(description="Only members of this team.")] = None


class LineItemInput(ToolInput):
    """Interface: Line item."""

    description: Annotated[Description, Field(description="What is sold; may have several lines.")]
    quantity: Annotated[
        Quantity,
        Field(
            description='Positive, at most 11 digits before a dot and 4 after it, such as "1.5".'
        ),
    ]
    unit_price: Annotated[
        UnitPrice,
        Field(
            description=(
                "Price of one unit before tax, in minor units of the currency:"
                ' "12500" is 125.00 in one of two decimals, such as EUR, 12500 JPY or 12.500 BHD.'
            )
        ),
    ]
    unit: Annotated[Unit | None, Field(description='Such as "h" or "pcs".')] = None
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
        RecordId | None,
        Field(
            description=(
                "The ID of an active tax rate; without one the line is untaxed. The list of tools"
                " names the active rates here; no tool reads them."
            )
        ),
    ] = None

    @field_validator("discount_value")
    @classmethod
    def _fits_discount_type(cls, value: int | None, info: ValidationInfo) -> int | None:
        if "discount_type" not in info.data:
            return value
        kind = info.data["discount_type"]
        if (kind is None) != (value is None):
            raise problem(draft_rules.DISCOUNT_PAIR)
        if kind == DiscountType.PERCENT and value is not None and value > BASIS_POINTS:
            raise problem(f"must be at most {BASIS_POINTS} basis points (100 %)")
        if kind == DiscountType.AMOUNT and value is not None and _exceeds_gross(value, info.data):
            raise problem(draft_rules.DISCOUNT_AMOUNT)
        return value


def _exceeds_gross(discount: int, line: dict[str, Any]) -> bool:
    if "quantity" not in line or "unit_price" not in line:
        return False
    return discount > gross_amount(line["quantity"], line["unit_price"])


class DraftInput(ToolInput):
    """Interface: Draft input. Every write sends the full header and the full line set."""

    customer_id: Annotated[
        RecordId, Field(description="An active customer, from customers.search.")
    ]
    currency_code: Annotated[Currency, Field(description="ISO 4217, such as EUR.")]
    issue_date: Annotated[
        IsoDate, Field(description="The date on the invoice, kept when it is issued later.")
    ]
    due_date: Annotated[IsoDate, Field(description="Not before issue_date.")]
    line_items: Annotated[
        list[LineItemInput], Field(min_length=1, max_length=draft_rules.MAX_LINES)
    ]
    language: Annotated[
        Language | None,
        Field(description="The invoice's language; without it that of the installation."),
    ] = None
    notes: Annotated[Notes | None, Field(description="Public notes on the invoice.")] = None
    reference: Annotated[
        Reference | None, Field(description="The customer's order number or the like.")
    ] = None

    @field_validator("due_date")
    @classmethod
    def _not_before_issue_date(cls, value: date, info: ValidationInfo) -> date:
        if "issue_date" in info.data and value < info.data["issue_date"]:
            raise problem(draft_rules.DUE_DATE)
        return value


LockVersion = Annotated[
    int,
    Field(ge=1, le=MAX_LOCK_VERSION, description="The draft's version as it was last read."),
    WHOLE,
]


class DraftUpdateInput(DraftInput):
    lock_version: LockVersion


class IssuePrepareInput(ToolInput):
    lock_version: LockVersion


class IssueInput(ToolInput):
    nonce: Annotated[
        str,
        Field(
            min_length=1,
            max_length=NONCE_LENGTH,
            description="The nonce that documents.issue_prepare gave.",
        ),
    ]
