"""Puts the current tax rates, currencies and languages into the schemas that agents read."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from django.conf import settings

from agent_access.fields import JSONSchema
from agent_access.tools import Tool
from invoicing.draft_fields import DraftInput
from invoicing.models import TaxCategory, TaxRate
from invoicing.money import SUPPORTED_CURRENCIES

# What a rate is for, in words for who chooses one.
MEANINGS: Mapping[str, str] = {
    TaxCategory.STANDARD: "taxed",
    TaxCategory.ZERO: "taxed at the zero rate",
    TaxCategory.EXEMPT: "exempt from VAT",
    TaxCategory.REVERSE_CHARGE: "the customer owes the tax (reverse charge)",
    TaxCategory.INTRA_COMMUNITY: (
        "goods to a business in another EU country, exempt (intra-community supply)"
    ),
    TaxCategory.EXPORT: "goods to a country outside the EU, exempt (export)",
    TaxCategory.OUTSIDE_SCOPE: "outside the scope of VAT",
}


def schema_filler() -> Callable[[Tool, JSONSchema], JSONSchema]:
    """Return a function that adds the current values to schemas of draft input, read only once."""
    read_rates = cache(lambda: list(TaxRate.objects.filter(is_active=True).order_by("id")))

    def fill(tool: Tool, schema: JSONSchema) -> JSONSchema:
        return _fill_draft(schema, read_rates()) if issubclass(tool.input, DraftInput) else schema

    return fill


def _fill_draft(schema: JSONSchema, rates: Sequence[TaxRate]) -> JSONSchema:
    header = schema["properties"]
    line = header["line_items"]["items"]
    tax_rate = _replace_choices(line["properties"]["tax_rate_id"], [str(rate.id) for rate in rates])
    tax_rate["description"] = "\n".join(
        [
            tax_rate["description"],
            *map(_describe, rates),
        ]
    )
    languages = dict(settings.DOCUMENT_LANGUAGES)
    filled_line = line | {"properties": line["properties"] | {"tax_rate_id": tax_rate}}
    filled = {
        "currency_code": _replace_choices(header["currency_code"], SUPPORTED_CURRENCIES),
        "language": _replace_choices(header["language"], list(languages))
        | {"default": settings.LANGUAGE_CODE},
        "line_items": header["line_items"] | {"items": filled_line},
    }
    return schema | {"properties": header | filled}


def _describe(rate: TaxRate) -> str:
    told = f"{rate.id}: {rate.name}, {rate.percentage} %"
    return f"{told}, {MEANINGS[rate.category]}" if rate.category else told


def _replace_choices(schema: JSONSchema, choices: Sequence[str]) -> JSONSchema:
    """Return the schema with an enum instead of a pattern; null stays allowed if it was.

    Without any choice it stays as it is: many clients refuse an enum of nothing but null.
    """
    if not choices:
        return schema
    is_nullable = "null" in schema["type"]
    kept = {key: value for key, value in schema.items() if key not in {"pattern", "format"}}
    enum: list[Any] = [*choices, None] if is_nullable else [*choices]
    return kept | {"enum": enum}
