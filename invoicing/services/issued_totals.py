"""What was issued in each month: how many documents, how many of them by agents, and their total.

Adding up a million documents takes half a second, so what was issued up to some value of each
series is added up once, and kept with the format of its type. Values are given one by one and
what is issued never changes, so what follows that value is all that is missing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q
from django.db.models.functions import TruncMonth

from invoicing.access import Permission
from invoicing.models import (
    Customer,
    Document,
    DocumentStatus,
    DocumentType,
    NumberFormat,
    NumberSeries,
    User,
)
from invoicing.models.documents import DocumentQuerySet

# Issuing every so manieth document keeps the totals; a page adds up at most so many by itself.
KEPT_EVERY = 100
# Each statement reads so many documents at most.
COUNTED_AT_ONCE = 25_000
# For a person who sees some customers alone, no more than so many documents are added up.
MOST_ADDED_UP = 10_000


class Group(NamedTuple):
    """What is added up together: one month, named by its first day, and one kind of money."""

    month: date
    currency_code: str
    minor_unit: int


@dataclass(frozen=True)
class Total:
    """How many documents, how many of them written by agents, and their sum in minor units."""

    count: int = 0
    by_agents: int = 0
    amount: int = 0

    def __add__(self, other: "Total") -> "Total":
        return Total(
            self.count + other.count,
            self.by_agents + other.by_agents,
            self.amount + other.amount,
        )


Totals = dict[Group, Total]


class TooManyError(Exception):
    """Of more documents than can be added up while a page waits."""


def keep_totals(document_type: DocumentType) -> None:
    """Add what is missing to the totals that are kept with the format of a type.

    The caller has the format locked, as next_number() does.
    """
    kept = NumberFormat.objects.get(type=document_type)
    counted, totals = _read_kept(kept)
    for series in NumberSeries.objects.filter(type=document_type):
        key = str(series.pk)
        while counted.get(key, 0) < series.last_value:
            rest = Document.objects.filter(series=series, series_value__gt=counted.get(key, 0))
            block = rest.order_by("series_value")[:COUNTED_AT_ONCE]
            last = block.aggregate(last=Max("series_value"))["last"]
            if last is None:
                break  # no document bears it: its last value was chosen, and may be lowered again
            _add(totals, _add_up(rest.filter(series_value__lte=last)))
            counted[key] = last
    NumberFormat.objects.filter(pk=kept.pk).update(issued_totals=_write_kept(counted, totals))


def read_totals(user: User, *, since: date) -> dict[DocumentType, Totals]:
    """Return the totals of each type, by issue date, from the month that begins on `since`.

    They are of the documents that the user sees. Raises TooManyError.
    """
    if user.has_perm(Permission.VIEW_ALL_CUSTOMERS):
        return {each: _read_all(each, since=since) for each in DocumentType}
    customers = Customer.objects.visible_to(user).values("pk")
    issued = Document.objects.filter(
        customer__in=customers, status=DocumentStatus.ISSUED, issue_date__gte=since
    )
    if issued[: MOST_ADDED_UP + 1].count() > MOST_ADDED_UP:
        raise TooManyError
    return {each: _add_up(issued.filter(type=each)) for each in DocumentType}


def read_customer_totals(customer: Customer) -> dict[DocumentType, Totals]:
    """Return the totals of each type of one customer, of all times; raises TooManyError."""
    issued = Document.objects.filter(customer=customer, status=DocumentStatus.ISSUED)
    if issued[: MOST_ADDED_UP + 1].count() > MOST_ADDED_UP:
        raise TooManyError
    return {each: _add_up(issued.filter(type=each)) for each in DocumentType}


def _read_all(document_type: DocumentType, *, since: date) -> Totals:
    """Return the totals that are kept, and what came after them in the series of these years."""
    kept = NumberFormat.objects.filter(type=document_type).first()
    counted, totals = _read_kept(kept) if kept else ({}, {})
    # A series has the year of its documents' issue dates, or none.
    dated = Q(year=0) | Q(year__gte=since.year)
    for series in NumberSeries.objects.filter(dated, type=document_type):
        last = counted.get(str(series.pk), 0)
        if last < series.last_value:
            rest = Document.objects.filter(series=series, series_value__gt=last)
            _add(totals, _add_up(rest))
    return {group: total for group, total in totals.items() if group.month >= since}


def _add_up(documents: DocumentQuerySet) -> Totals:
    rows = documents.annotate(month=TruncMonth("issue_date")).add_up(
        "month",
        "currency_code",
        "minor_unit",
        count=Count("pk"),
        by_agents=Count("connection_id"),
    )
    return {
        Group(row["month"], row["currency_code"], row["minor_unit"]): Total(
            row["count"], row["by_agents"], row["amount"]
        )
        for row in rows
    }


def _add(totals: Totals, more: Totals) -> None:
    for group, total in more.items():
        totals[group] = totals.get(group, Total()) + total


def _read_kept(kept: NumberFormat) -> tuple[dict[str, int], Totals]:
    """Return up to which value each series is added up, by its ID, and the totals up to there."""
    told: dict[str, Any] = kept.issued_totals or {"counted": {}, "totals": []}
    return dict(told["counted"]), dict(_read_rows(told["totals"]))


def _read_rows(rows: Iterable[list[Any]]) -> Iterator[tuple[Group, Total]]:
    for month, currency_code, minor_unit, count, by_agents, amount in rows:
        group = Group(date.fromisoformat(month), currency_code, minor_unit)
        yield group, Total(count, by_agents, amount)


def _write_kept(counted: dict[str, int], totals: Totals) -> dict[str, Any]:
    rows = [
        [group.month.isoformat(), *group[1:], total.count, total.by_agents, total.amount]
        for group, total in sorted(totals.items())
    ]
    return {"counted": counted, "totals": rows}
