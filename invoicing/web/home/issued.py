"""What was issued this month, and in each of the twelve months that it ends, by currency."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from babel.dates import format_date

from invoicing.languages import locale_of, page_language
from invoicing.models import DocumentType, User
from invoicing.paper.formats import Formats
from invoicing.services.issued_totals import Group, TooManyError, Total, Totals, read_totals
from invoicing.web.home.chart import draw_bars
from invoicing.web.issued_counts import count_issued

MONTHS = 12

# A currency, and how many decimals it had when the documents were written.
Money = tuple[str, int]


def describe_issued(user: User, today: date) -> dict[str, Any]:
    """Describe what the user sees of it; `currencies` is None if that is too much to add up.

    Credit notes are subtracted. The currency of most documents comes first.
    """
    months = last_months(today)
    try:
        totals = read_totals(user, since=months[0])
    except TooManyError:
        return {"currencies": None}
    counts: dict[Money, int] = {}
    for of_type in totals.values():
        for group, total in of_type.items():
            if group.month in months:
                money = group.currency_code, group.minor_unit
                counts[money] = counts.get(money, 0) + total.count
    ordered = sorted(counts, key=lambda money: (-counts[money], money))
    return {"currencies": [_describe_currency(totals, money, months) for money in ordered]}


def last_months(today: date) -> list[date]:
    """Return the first days of this month and the eleven before, the oldest first."""
    last = today.year * MONTHS + today.month - 1
    each = range(last - MONTHS + 1, last + 1)
    return [date(number // MONTHS, number % MONTHS + 1, 1) for number in each]


def _describe_currency(
    totals: Mapping[DocumentType, Totals], money: Money, months: Sequence[date]
) -> dict[str, Any]:
    rows = [_describe_month(totals, Group(month, *money)) for month in months]
    return {
        "code": money[0],
        "now": rows[-1],
        "rows": rows,
        "bars": draw_bars([row["amount"] for row in rows]),
    }


def _describe_month(totals: Mapping[DocumentType, Totals], group: Group) -> dict[str, Any]:
    invoices = totals[DocumentType.INVOICE].get(group, Total())
    notes = totals[DocumentType.CREDIT_NOTE].get(group, Total())
    amount = invoices.amount - notes.amount
    formats = Formats(page_language(), group.currency_code, group.minor_unit)
    locale = locale_of(page_language())
    return {
        "month": format_date(group.month, "MMMM yyyy", locale=locale),
        "short": format_date(group.month, "MMM", locale=locale),
        "amount": amount,
        "total": formats.money(amount),
        "counts": count_issued(invoices.count, notes.count),
        "documents": invoices.count + notes.count,
        "by_agents": invoices.by_agents + notes.by_agents,
    }
