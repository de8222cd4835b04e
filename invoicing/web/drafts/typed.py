"""A draft as the texts of form fields: as typed, or as a saved draft would be typed."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.http import QueryDict
from django.utils import timezone

from invoicing.draft_fields import MAX_LINES, PersonInput
from invoicing.fixed_point import DECIMALS
from invoicing.models import Document, Line, User
from invoicing.money import SUPPORTED_CURRENCIES, minor_unit
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_documents
from invoicing.totals import DiscountType
from invoicing.web.drafts.forms import LINES_PREFIX, PERCENT_DECIMALS, HeaderForm, LineForm
from invoicing.web.formats import local_date
from invoicing.web.typed_numbers import avoid_grouping, format_typed

DEFAULT_CURRENCY = "EUR"
DAYS_TO_PAY = timedelta(days=30)
# How many of the newest documents tell which currency is usual.
DOCUMENTS_OF_HABIT = 25

_LINE_FIELD = re.compile(rf"{LINES_PREFIX}-([0-9]{{1,4}})-[a-z_]+", re.ASCII)

Typed = Mapping[str, str]


@dataclass(frozen=True)
class TypedDraft:
    """The texts of all fields, by name; `minor_unit` is that of the currency, or of the default."""

    header: Typed
    lines: list[Typed]
    minor_unit: int

    def data_of_lines(self) -> dict[str, Any]:
        """Return the texts of the lines as a formset takes them."""
        counts = dict.fromkeys(("TOTAL_FORMS", "INITIAL_FORMS"), len(self.lines))
        texts = {
            f"{index}-{name}": text
            for index, line in enumerate(self.lines)
            for name, text in line.items()
        }
        return {f"{LINES_PREFIX}-{name}": value for name, value in (counts | texts).items()}

    def with_customer(self, customer_id: str) -> "TypedDraft":
        return replace(self, header={**self.header, "customer_id": customer_id})

    def with_line(self) -> "TypedDraft":
        """Return the draft with one more line, at the tax of the last one."""
        if len(self.lines) >= MAX_LINES:
            return self
        new = {"tax_rate_id": self.lines[-1].get("tax_rate_id", "")}
        return replace(self, lines=[*self.lines, new])

    def without_line(self, index: int) -> "TypedDraft":
        lines = [line for position, line in enumerate(self.lines) if position != index]
        return replace(self, lines=lines or [{}])


def read_typed(data: QueryDict) -> TypedDraft:
    """Return what was typed, without checking it."""
    header = {name: _read_text(data, name) for name in HeaderForm.base_fields}
    lines: list[Typed] = [
        {name: _read_text(data, f"{LINES_PREFIX}-{index}-{name}") for name in LineForm.base_fields}
        for index in range(_count_lines(data))
    ]
    code = header["currency_code"]
    known = code if code in SUPPORTED_CURRENCIES else DEFAULT_CURRENCY
    return TypedDraft(header, lines, minor_unit(known))


def _read_text(data: QueryDict, name: str) -> str:
    """Return a text with line feeds only, as it is saved; browsers send CRLF."""
    return data.get(name, "").replace("\r\n", "\n")


def _count_lines(data: QueryDict) -> int:
    """Return how many lines were sent, at most one more than allowed, so that it is refused."""
    text = data.get(f"{LINES_PREFIX}-TOTAL_FORMS", "")[:4]
    said = min(int(text), MAX_LINES) if text.isascii() and text.isdigit() else 1
    sent = (int(match[1]) + 1 for name in data if (match := _LINE_FIELD.fullmatch(name)))
    return min(max(said, 1, *sent), MAX_LINES + 1)


def new_typed_draft(user: User) -> TypedDraft:
    """Return an empty draft, dated today for the person, in the currency used most of late."""
    today = local_date(timezone.now(), user)
    newest, _ = find_documents(user, PageRequest(limit=DOCUMENTS_OF_HABIT, newest_first=True))
    # ISO 4217 may have withdrawn one since.
    used = Counter(
        each.currency_code for each in newest if each.currency_code in SUPPORTED_CURRENCIES
    )
    currency_code = max(used, key=used.__getitem__, default=DEFAULT_CURRENCY)
    header = {
        "issue_date": today.isoformat(),
        "due_date": (today + DAYS_TO_PAY).isoformat(),
        "currency_code": currency_code,
        "language": settings.LANGUAGE_CODE,
    }
    return TypedDraft(header, [{}], minor_unit(currency_code))


def typed_draft_of(document: Document, lines: Iterable[Line]) -> TypedDraft:
    """Return a saved or previewed draft as a person would type it."""
    header = {name: str(getattr(document, name)) for name in HeaderForm.base_fields}
    decimals = document.minor_unit
    return TypedDraft(header, [_write_line(line, decimals) for line in lines], decimals)


def copy_typed(document: Document, *, today: date) -> TypedDraft:
    """Return a document as a new draft of today, with as many days to pay.

    What a person wrote of that one delivery, its order and its exchange rate is left out.
    """
    typed = typed_draft_of(document, document.lines.all())
    due_date = today + (document.due_date - document.issue_date)
    own = dict.fromkeys(PersonInput.model_fields.keys() & typed.header.keys(), "")
    dates = {"issue_date": today.isoformat(), "due_date": due_date.isoformat()}
    return replace(typed, header={**typed.header, **own, **dates})


def _write_line(line: Line, decimals: int) -> Typed:
    texts = {name: str(getattr(line, name) or "") for name in LineForm.base_fields}
    return texts | {
        "quantity": avoid_grouping(line.quantity, decimals=DECIMALS),
        "unit_price": format_typed(line.unit_price, decimals=decimals),
        "discount_value": _write_discount(line, decimals),
    }


def _write_discount(line: Line, decimals: int) -> str:
    if line.discount_value is None:
        return ""
    if line.discount_type == DiscountType.AMOUNT:
        return format_typed(line.discount_value, decimals=decimals)
    percent = format_typed(line.discount_value, decimals=PERCENT_DECIMALS)
    return percent.rstrip("0").rstrip(".")
