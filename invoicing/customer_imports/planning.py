"""What each row of a file would do to the customers that a person can see; nothing is written."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agent_access.texts import ControlCharacterError, normalise_text
from invoicing.admin.customers import CustomerForm
from invoicing.customer_imports.columns import LABELS, read_value
from invoicing.customer_imports.reading import Row, Table
from invoicing.models import Customer, User
from invoicing.services.record_changes import UNREADABLE
from invoicing.vat_numbers import compact_vat_number

NO_KEY = _("Write a customer number or a name.")
TOO_MANY_CELLS = _("The row has more cells than the header. Does a cell need quotation marks?")
SEVERAL_WITH_NUMBER = _("Several customers have this customer number.")
SEVERAL_WITH_NAME = _("Several customers have this name, postcode and VAT number.")

# What a spreadsheet would run as a formula; exports put an apostrophe before it.
_FORMULA_STARTS = ("'=", "'+", "'-", "'@")
_CACHED_VALUES = 10_000

# By what a customer is found: its number, or its name, postcode and VAT number.
Key = str | tuple[str, str, str]
Index = Mapping[Key, Sequence[Customer]]


class Outcome(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    BAD = "bad"


@dataclass(kw_only=True)
class PlannedRow:
    """What a row does: `changes` has the values before and after, by field.

    The customer has the values after. A row with problems does nothing.
    """

    line: int
    texts: Mapping[str, str]
    problems: list[str]
    customer: Customer = field(default_factory=Customer)
    changes: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def has_number(self) -> bool:
        return "customer_number" in self.texts

    @property
    def key(self) -> Key:
        if self.has_number:
            return self.texts["customer_number"]
        return _name_key(*(self.texts.get(name, "") for name in ("name", "postcode", "vat_number")))

    @property
    def outcome(self) -> Outcome:
        if self.problems:
            return Outcome.BAD
        if self.customer._state.adding:
            return Outcome.NEW
        return Outcome.CHANGED if self.changes else Outcome.UNCHANGED


@dataclass(frozen=True)
class Plan:
    rows: Sequence[PlannedRow]

    def having(self, outcome: Outcome) -> list[PlannedRow]:
        return [row for row in self.rows if row.outcome == outcome]

    def digest(self) -> str:
        """Return a SHA-256 of what all rows do, to tell whether they would do something else."""
        told = [
            (row.line, row.outcome, row.changes)
            + ((str(row.customer.pk),) if row.outcome == Outcome.CHANGED else ())
            for row in self.rows
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def read_rows(table: Table, fields: Sequence[str]) -> list[PlannedRow]:
    """Return the rows with their texts by field, and what is wrong with these in themselves.

    `fields` has the field of each column, or "". An empty cell has no text.
    """
    return [_read_row(row, fields) for row in table.rows]


def _read_row(row: Row, fields: Sequence[str]) -> PlannedRow:
    texts, problems = {}, []
    if any(cell.strip() for cell in row.cells[len(fields) :]):
        problems.append(str(TOO_MANY_CELLS))
    for name, cell in zip(fields, row.cells, strict=False):
        if not name:
            continue
        try:
            text = normalise_text(cell, multiline=False)
        except ControlCharacterError:
            problems.append(_describe(name, str(UNREADABLE)))
            continue
        if text:
            text = text[1:] if text.startswith(_FORMULA_STARTS) else text
            texts[name] = read_value(name, text)
    return PlannedRow(line=row.line, texts=texts, problems=problems)


def find_customers(user: User, rows: Iterable[PlannedRow]) -> list[UUID]:
    """Return, in order, the IDs of the customers that the person sees and rows may be about."""
    wanted = {row.key for row in rows}
    stored = Customer.objects.visible_to(user).values_list(
        *("pk", "customer_number", "name", "postcode", "vat_number")
    )
    return sorted(
        pk
        for pk, number, *named in stored.iterator()
        if number in wanted or _name_key(*named) in wanted
    )


def plan_rows(rows: Sequence[PlannedRow], customers: Iterable[Customer]) -> Plan:
    """Plan what rows that were just read do to these customers, which get the values after."""
    index = _index(customers)
    about = defaultdict(list)
    for row in rows:
        if not row.problems:
            about[_match(row, index)].append(row)
    for same in about.values():
        _refuse_repeated(same)
    rules = Rules()
    for row in rows:
        if not row.problems:
            _apply(row, rules)
    _refuse_ambiguous(rows)
    return Plan(rows)


def _index(customers: Iterable[Customer]) -> Index:
    index: defaultdict[Key, list[Customer]] = defaultdict(list)
    for customer in customers:
        if customer.customer_number:
            index[customer.customer_number].append(customer)
        index[_name_key_of(customer)].append(customer)
    return index


def _match(row: PlannedRow, index: Index) -> UUID | Key:
    """Find the customer of a row; return what no other row may be about."""
    if not row.has_number and "name" not in row.texts:
        row.problems.append(str(NO_KEY))
        return row.customer.pk
    found = index.get(row.key, ())
    if len(found) > 1:
        row.problems.append(str(SEVERAL_WITH_NUMBER if row.has_number else SEVERAL_WITH_NAME))
    elif found:
        [row.customer] = found
        return row.customer.pk
    return row.key


def _refuse_repeated(same: Sequence[PlannedRow]) -> None:
    """Refuse rows about one customer; but one with its number stands beside those without."""
    numbered = [row for row in same if row.has_number]
    for row in same:
        if other := _another(numbered if row.has_number else same, row):
            row.problems.append(
                gettext("Line %(line)s is about the same customer.") % {"line": other.line}
            )


def _refuse_ambiguous(rows: Iterable[PlannedRow]) -> None:
    """Refuse rows without a number about a customer whose name another row's customer has."""
    named = defaultdict(list)
    for row in rows:
        if not row.problems:
            named[_name_key_of(row.customer)].append(row)
    for same in named.values():
        for row in same:
            other = _another(same, row)
            if other and not row.has_number:
                row.problems.append(
                    gettext(
                        "The customer of line %(line)s has the same name, postcode and VAT number."
                        " Give each row its customer number."
                    )
                    % {"line": other.line}
                )


def _another(rows: Sequence[PlannedRow], row: PlannedRow) -> PlannedRow | None:
    return next((other for other in rows[:2] if other is not row), None)


def _name_key(name: str, postcode: str, vat_number: str) -> Key:
    return name.casefold(), postcode.casefold(), compact_vat_number(vat_number)


def _name_key_of(customer: Customer) -> Key:
    return _name_key(customer.name, customer.postcode, customer.vat_number)


class Rules:
    """The rules of the form of customers, for one field at a time."""

    def __init__(self) -> None:
        form = forms.modelform_factory(Customer, form=CustomerForm, fields=[*LABELS])()
        self._fields = form.fields
        # Most rows share a country, a language and the like.
        self.clean = lru_cache(_CACHED_VALUES)(self._clean)

    def _clean(self, name: str, text: str) -> Any:
        """Return the value of a text; raises ValidationError."""
        return self._fields[name].clean(text)


def _apply(row: PlannedRow, rules: Rules) -> None:
    customer = row.customer
    if customer._state.adding and "name" not in row.texts:
        row.problems.append(_describe("name", gettext("A new customer needs one.")))
    for name, text in row.texts.items():
        before = getattr(customer, name)
        if text == before:
            continue
        try:
            after = rules.clean(name, text)
        except ValidationError as error:
            row.problems += [_describe(name, problem) for problem in error.messages]
            continue
        if after != before:
            row.changes[name] = before, after
            setattr(customer, name, after)
    if row.changes:
        row.problems += _judge(customer)


def _judge(customer: Customer) -> Iterator[str]:
    """Yield what is wrong with the customer as a whole."""
    try:
        customer.clean()
    except ValidationError as error:
        for name, problems in error.message_dict.items():
            for problem in problems:
                yield _describe(name, problem)


def _describe(name: str, problem: str) -> str:
    return f"{LABELS[name]}: {problem}"
