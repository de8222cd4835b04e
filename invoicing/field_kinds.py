"""The kinds of fields: how each is read from the wire, written there, and described in JSON Schema.

Amounts are strings of minor units on the wire and integers in columns; quantities and percentages
are decimal strings there and integers of ten-thousandths here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from django.utils.translation import gettext_noop
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, PlainSerializer
from pydantic_core import CoreSchema, core_schema

from agent_access.fields import NOT_A_STRING, PROBLEM, JSONSchema, RecordId, problem
from agent_access.texts import ControlCharacterError, normalise_text
from invoicing.fixed_point import SCALE, format_fixed_point, parse_fixed_point
from invoicing.languages import is_country
from invoicing.money import AMOUNT_DIGITS, RATE_DECIMALS

# In ten-thousandths: eleven digits before the dot and four after it.
MAX_QUANTITY = 99_999_999_999 * SCALE + 9_999

AMOUNT_PATTERN = rf"^(0|[1-9][0-9]{{0,{AMOUNT_DIGITS - 1}}})$"
# Not zero, without look-ahead, which not every implementation of JSON Schema supports.
FRACTION_PATTERN = r"[1-9][0-9]{0,3}|0[1-9][0-9]{0,2}|00[1-9][0-9]?|000[1-9]"
QUANTITY_PATTERN = rf"^([1-9][0-9]{{0,10}}(\.[0-9]{{1,4}})?|0\.({FRACTION_PATTERN}))$"
PERCENTAGE_PATTERN = r"^(100|[1-9]?[0-9])(\.[0-9]{1,4})?$"
DATE_SCHEMA: JSONSchema = {
    "type": "string",
    "format": "date",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
}
CURRENCY_PATTERN = r"^[A-Z]{3}$"
COUNTRY_LENGTH = 2
RATE_PATTERN = rf"^(0|[1-9][0-9]{{0,8}})(\.[0-9]{{1,{RATE_DECIMALS}}})?$"
LANGUAGE_PATTERN = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"

# Codes of problems that a form words otherwise, since people type numbers in another notation.
AMOUNT_PROBLEM = "amount"
QUANTITY_PROBLEM = "quantity"


@dataclass(frozen=True, eq=False)
class FieldKind:
    """How a value is read and written.

    In facts it stays as its column keeps it, unless it `is_text_in_facts`. A field that came after
    the first release is left out of them while it is empty, so that what an older release prepared
    stays valid; the others are `always_in_facts`.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    schema: JSONSchema
    shown_as: str = ""
    is_text_in_facts: bool = False
    always_in_facts: bool = True

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(
            self.read,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.write, when_used="always" if self.is_text_in_facts else "json"
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JSONSchema:
        is_shown = handler.mode == "serialization" and self.shown_as
        return {**self.schema, "description": self.shown_as} if is_shown else {**self.schema}


def text(longest: int, *, multiline: bool = False, always_in_facts: bool = False) -> FieldKind:
    """Return the kind of a text that may be left out: null and "" are the same."""

    def read(value: Any) -> str:
        return "" if value is None else _read_text(value, longest, multiline=multiline)

    schema = {"type": ["string", "null"], "maxLength": longest}
    return FieldKind(read, lambda value: value or None, schema, always_in_facts=always_in_facts)


def required_text(longest: int, *, multiline: bool = False) -> FieldKind:
    """Return the kind of a text that must be there, and not be empty."""

    def read(value: Any) -> str:
        if found := _read_text(value, longest, multiline=multiline):
            return found
        raise problem(gettext_noop("must not be empty"))

    return FieldKind(read, str, {"type": "string", "minLength": 1, "maxLength": longest})


def code(pattern: str, *, text: str) -> FieldKind:
    """Return the kind of a code with this form; which codes there are is judged elsewhere."""

    def read(value: Any) -> str:
        return _match(value, pattern, text)

    return FieldKind(read, str, {"type": "string", "pattern": pattern})


def minor_units(counted: str, *, shown_as: str) -> FieldKind:
    """Return the kind of an amount; `counted` names what its digits count.

    Told "a whole number", a model corrects "84.30" to "84", so each text names the unit.
    """
    digits = f"in at most {AMOUNT_DIGITS} digits without leading zeros"
    wrong = f"must be a string of {counted}, {digits}"

    def read(value: Any) -> int:
        return int(_match(value, AMOUNT_PATTERN, wrong, AMOUNT_PROBLEM, no_string=wrong))

    schema = {"type": "string", "pattern": AMOUNT_PATTERN}
    return FieldKind(read, str, schema, shown_as=shown_as)


def _read_text(value: Any, longest: int, *, multiline: bool) -> str:
    if not isinstance(value, str):
        raise problem(NOT_A_STRING)
    try:
        found = normalise_text(value, multiline=multiline)
    except ControlCharacterError:
        raise problem(gettext_noop("must not contain control characters")) from None
    if len(found) > longest:
        raise problem(gettext_noop("must have at most {longest} characters"), longest=longest)
    return found


def _read_quantity(value: Any) -> int:
    wanted = gettext_noop(
        "must be positive, with at most 11 digits before a dot and 4 after it, such as 1.5"
    )
    return parse_fixed_point(_match(value, QUANTITY_PATTERN, wanted, QUANTITY_PROBLEM))


def _read_country(value: Any) -> str:
    found = _read_text(value or "", COUNTRY_LENGTH, multiline=False)
    if found and not is_country(found):
        raise problem(gettext_noop("must be a country of ISO 3166, such as DE"))
    return found


def _read_rate(value: Any) -> int:
    wanted = gettext_noop(
        "must be a positive number of at most 9 digits before a dot and 6 after it"
    )
    rate = parse_fixed_point(_match(value, RATE_PATTERN, wanted), decimals=RATE_DECIMALS)
    if not rate:
        raise problem(wanted)
    return rate


def _write_rate(value: int) -> str:
    return format_fixed_point(value, decimals=RATE_DECIMALS)


def _read_date(value: Any) -> date:
    written = _match(
        value, DATE_SCHEMA["pattern"], gettext_noop("must be a date written YYYY-MM-DD")
    )
    try:
        return date.fromisoformat(written)
    except ValueError:
        raise problem(gettext_noop("must be a date that exists")) from None


def _match(
    value: Any, pattern: str, wrong: str, code: str = PROBLEM, *, no_string: str = NOT_A_STRING
) -> str:
    if not isinstance(value, str):
        raise problem(no_string)
    if not re.fullmatch(pattern, value):
        raise problem(wrong, code)
    return value


Id = Annotated[RecordId, PlainSerializer(str)]
Amount = Annotated[
    int,
    minor_units(
        'minor units, such as "12500" for 125.00 EUR',
        shown_as='In minor units: "12500" is 125.00 EUR.',
    ),
]
DiscountValue = Annotated[
    int,
    minor_units(
        'basis points for percent ("1000" is 10 %) or of minor units for amount',
        shown_as="percent: basis points (1000 is 10 %); amount: minor units.",
    ),
]
Quantity = Annotated[
    int,
    FieldKind(
        _read_quantity,
        format_fixed_point,
        {"type": "string", "pattern": QUANTITY_PATTERN},
        is_text_in_facts=True,
    ),
]
Percentage = Annotated[
    int,
    FieldKind(
        parse_fixed_point,
        format_fixed_point,
        {"type": "string", "pattern": PERCENTAGE_PATTERN},
        is_text_in_facts=True,
    ),
]
IsoDate = Annotated[date, FieldKind(_read_date, str, DATE_SCHEMA, is_text_in_facts=True)]
CurrencyCode = Annotated[
    str, code(CURRENCY_PATTERN, text=gettext_noop("must be three capital letters (ISO 4217)"))
]
CountryCode = Annotated[
    str, FieldKind(_read_country, lambda value: value or None, {"type": ["string", "null"]})
]
ExchangeRate = Annotated[
    int,
    FieldKind(
        _read_rate, _write_rate, {"type": "string", "pattern": RATE_PATTERN}, is_text_in_facts=True
    ),
]
LanguageCode = Annotated[str, code(LANGUAGE_PATTERN, text=gettext_noop("must be a language code"))]
