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
from invoicing.models import Company, Customer, Document, Line, User
from invoicing.money import RATE_DECIMALS, SUPPORTED_CURRENCIES, minor_unit
from invoicing.paper.formats import local_date
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_documents
from invoicing.shown import FOR_PEOPLE
from invoicing.totals import DiscountType
from invoicing.web.drafts.customers import find_offered
from invoicing.web.drafts.forms import (
    HEADER_FIELDS,
    INVOICE_CURRENCY,
    LINES_PREFIX,
    PERCENT_DECIMALS,
    HeaderForm,
    LineForm,
)
from invoicing.web.typed_numbers import avoid_grouping, format_typed

DEFAULT_CURRENCY = "EUR"
DAYS_TO_PAY = 30
# The lists of a line, which always have something chosen.
CHOSEN = ("discount_type", "tax_rate_id")
# How many of the newest documents tell which currency is usual.
DOCUMENTS_OF_HABIT = 25

_LINE_FIELD = re.compile(rf"{LINES_PREFIX}-([0-9]{{1,4}})-[a-z_]+", re.ASCII)

Typed = Mapping[str, str]


@dataclass(frozen=True)
class TypedDraft:
    """The texts of all fields, by name; `minor_unit` is that of the currency, or of the default.

    `proposed_for` is the ID of the customer for whom a new draft proposes what it does, or empty.
    """

    header: Typed
    lines: list[Typed]
    minor_unit: int
    proposed_for: str = ""

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

    def with_copy(self, index: int) -> "TypedDraft":
        """Return the draft with the line at this position twice."""
        if len(self.lines) >= MAX_LINES:
            return self
        at = min(index, len(self.lines) - 1)
        return replace(self, lines=[*self.lines[: at + 1], *self.lines[at:]])

    def with_moved(self, index: int, *, step: int) -> "TypedDraft":
        """Return the draft with a line one up (-1) or down (1), if there is another one."""
        lines, other = [*self.lines], index + step
        if index < len(lines) and 0 <= other < len(lines):
            lines[index], lines[other] = lines[other], lines[index]
        return replace(self, lines=lines)

    def without_blank_lines(self) -> "TypedDraft":
        """Return the draft without the lines into which nothing was typed; one line stays."""
        lines = [line for line in self.lines if not is_blank(line)]
        return replace(self, lines=lines or self.lines[:1])


def is_blank(line: Typed) -> bool:
    """Return whether nothing was typed into a line; what its lists have chosen does not count."""
    return not any(text for name, text in line.items() if name not in CHOSEN)


def read_typed(data: QueryDict) -> TypedDraft:
    """Return what was typed, without checking it."""
    header = {name: _read_text(data, name) for name in HEADER_FIELDS}
    lines: list[Typed] = [
        {name: _read_text(data, f"{LINES_PREFIX}-{index}-{name}") for name in LineForm.base_fields}
        for index in range(_count_lines(data))
    ]
    return TypedDraft(
        header, lines, _decimals(header["currency_code"]), data.get("proposed_for", "")
    )


def _decimals(currency_code: str) -> int:
    return minor_unit(currency_code if currency_code in SUPPORTED_CURRENCIES else DEFAULT_CURRENCY)


def _read_text(data: QueryDict, name: str) -> str:
    """Return a text with line feeds only, as it is saved; browsers send CRLF."""
    return data.get(name, "").replace("\r\n", "\n")


def _count_lines(data: QueryDict) -> int:
    """Return how many lines were sent, at most one more than allowed, so that it is refused."""
    text = data.get(f"{LINES_PREFIX}-TOTAL_FORMS", "")[:4]
    said = min(int(text), MAX_LINES) if text.isascii() and text.isdigit() else 1
    sent = (int(match[1]) + 1 for name in data if (match := _LINE_FIELD.fullmatch(name)))
    return min(max(said, 1, *sent), MAX_LINES + 1)


def new_typed_draft(user: User, customer: Customer | None = None) -> TypedDraft:
    """Return an empty draft, dated today for the person, for a customer or none yet."""
    today = local_date(timezone.now(), user).isoformat()
    header = {"issue_date": today, **_propose(user, customer, today)}
    chosen = str(customer.pk) if customer else ""
    lines: list[Typed] = [{"tax_rate_id": _last_tax_rate(user)}]
    typed = TypedDraft(header, lines, _decimals(header["currency_code"]), chosen)
    return typed.with_customer(chosen)


def _last_tax_rate(user: User) -> str:
    """Return the ID of the last active rate of what the person wrote last, if they may see it."""
    own = Document.objects.filter(created_by=user, connection_id=None).order_by("-id")
    visible = Document.objects.visible_to(user).filter(pk__in=own.values("pk")[:1])
    used = Line.objects.filter(document__in=visible, tax_rate__is_active=True)
    found = used.order_by("-position").values_list("tax_rate_id", flat=True).first()
    return str(found or "")


def propose_again(typed: TypedDraft, user: User) -> TypedDraft:
    """Return a new draft with what the customer chosen since has agreed, where nobody chose."""
    chosen, issue_date = typed.header["customer_id"], typed.header["issue_date"]
    if chosen == typed.proposed_for:
        return typed
    before, after = (
        _propose(user, find_offered(user, pk), issue_date) for pk in (typed.proposed_for, chosen)
    )
    own = {name: text for name, text in typed.header.items() if text != before.get(name)}
    header = {**typed.header, **after, **own}
    decimals = _decimals(header["currency_code"])
    return replace(typed, header=header, minor_unit=decimals, proposed_for=chosen)


def _propose(user: User, customer: Customer | None, issue_date: str) -> Typed:
    """Return what a new draft proposes: what the customer has agreed, or what is usual."""
    code, language = (customer.currency_code, customer.language) if customer else ("", "")
    known = dict(settings.DOCUMENT_LANGUAGES)
    return {
        "due_date": _add_days(issue_date, _days_to_pay(customer)),
        "currency_code": code if code in SUPPORTED_CURRENCIES else _usual_currency(user),
        "language": language if language in known else settings.LANGUAGE_CODE,
    }


def _add_days(issue_date: str, days: int) -> str:
    """Return the day so many days later; what is no date, or has no such day, stays as it is."""
    try:
        return (date.fromisoformat(issue_date) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return issue_date


def _days_to_pay(customer: Customer | None) -> int:
    agreed = (each.payment_days for each in (customer, Company.objects.first()) if each)
    return next((days for days in agreed if days is not None), DAYS_TO_PAY)


def _usual_currency(user: User) -> str:
    """Return the currency used most of late."""
    newest, _ = find_documents(user, PageRequest(limit=DOCUMENTS_OF_HABIT, newest_first=True))
    # ISO 4217 may have withdrawn one since.
    used = Counter(
        each.currency_code for each in newest if each.currency_code in SUPPORTED_CURRENCIES
    )
    return max(used, key=used.__getitem__, default=DEFAULT_CURRENCY)


def typed_draft_of(document: Document, lines: Iterable[Line]) -> TypedDraft:
    """Return a saved or previewed draft as a person would type it."""
    header = {name: str(getattr(document, name)) for name in HeaderForm.base_fields}
    decimals = document.minor_unit
    return TypedDraft(
        {**header, **_write_for_people(document)},
        [_write_line(line, decimals) for line in lines],
        decimals,
        # What is written already follows no customer.
        proposed_for=header["customer_id"],
    )


def _write_for_people(document: Document) -> Typed:
    """Return the texts of PersonInput's fields; the facts have dates and the rate as texts."""
    facts = FOR_PEOPLE.facts_of(document)
    texts = {name: facts.get(name) or "" for name in FOR_PEOPLE.names}
    is_of_invoice = texts["exchange_rate_base"] == document.currency_code
    return texts | {
        "exchange_rate": avoid_grouping(texts["exchange_rate"], decimals=RATE_DECIMALS),
        "exchange_rate_base": INVOICE_CURRENCY if is_of_invoice else texts["exchange_rate_base"],
    }


def copy_typed(document: Document, *, today: date) -> TypedDraft:
    """Return a document as a new draft of today, with as many days to pay.

    What a person wrote of that one delivery, its order and its exchange rate is left out.
    """
    typed = typed_draft_of(document, document.lines.all())
    issue_date, days_to_pay = today.isoformat(), (document.due_date - document.issue_date).days
    own = dict.fromkeys(PersonInput.model_fields.keys() & typed.header.keys(), "")
    dates = {"issue_date": issue_date, "due_date": _add_days(issue_date, days_to_pay)}
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
    return percent.rstrip("0").rstrip(".,")
