"""What a caller says about a draft (interface, "Draft input"); everything else is computed."""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple
from uuid import UUID

from invoicing.totals import DiscountType


class LineInput(NamedTuple):
    """One line as asked for: the quantity in ten-thousandths, the price in minor units.

    The discount value is in basis points or in minor units, as its type says.
    """

    description: str
    quantity: int
    unit_price: int
    unit: str = ""
    discount_type: DiscountType | None = None
    discount_value: int | None = None
    tax_rate_id: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class DraftInput:
    """A whole draft as asked for; without a language it gets settings.LANGUAGE_CODE."""

    customer_id: UUID
    currency_code: str
    issue_date: date
    due_date: date
    line_items: tuple[LineInput, ...]
    language: str | None = None
    notes: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Maker:
    """The connection through which an agent makes a draft or prepares an approval."""

    connection_id: UUID
    connection_name: str
