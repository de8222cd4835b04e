"""Bookings of issued documents for a tax adviser who uses DATEV.

One booking for each tax rate of a document: the gross amount from the customer's account to the
revenue account of the rate, which makes DATEV take the tax out of it ("Automatikkonto").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from itertools import accumulate, pairwise
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from django.utils.translation import gettext

from invoicing.errors import InvoicingError
from invoicing.exports import datev_format as columns
from invoicing.exports.cells import CHUNK_LENGTH, Chunks
from invoicing.exports.datev_format import BASE_CURRENCY, MOST_BOOKINGS
from invoicing.exports.selection import Read, Selection
from invoicing.exports.tables import customer_number_of
from invoicing.models import Company, DatevSettings, Document, TaxCategory, TaxRate
from invoicing.money import (
    RATE_DECIMALS,
    RATE_SCALE,
    ExchangeRate,
    Money,
    convert,
    round_half_up,
)

# After so many nothing more is read.
MOST_PROBLEMS = 50

# The format writes amounts with two decimals, and a rate with one to four digits before them.
_DECIMALS = 2
_MOST_CENTS = 10**12 - 1
_MOST_OF_RATE = 9999

_Cells = dict[str, str]


@dataclass(frozen=True)
class Problem:
    """Why something cannot be booked, and the record in which that is mended.

    The text is a sentence, or the same beginning of one for all records that are named.
    """

    text: str
    model: str = ""
    pk: object = None
    name: str = ""


class DatevRefusedError(InvoicingError):
    """There are no bookings to hand over; `problems` say why."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(" ".join(f"{each.text} {each.name}".rstrip() for each in problems))
        self.problems = problems


class _Share(NamedTuple):
    """The gross amount of one rate on a document, or of its lines without a rate."""

    gross: int
    category: str
    rate: TaxRate | None


def write_bookings(read: Read, selection: Selection, *, now: datetime) -> Chunks:
    """Yield the file of bookings, after all documents were read and found bookable.

    Raises DatevRefusedError if any is not, and Company.DoesNotExist.
    """
    settings = DatevSettings.objects.first()
    if settings is None:
        problem = gettext("The numbers that your tax adviser gave you are missing.")
        raise DatevRefusedError(Problem(problem, "datevsettings"))
    days = (selection.first_day, selection.last_day)
    year_begins = _begin_of_year(settings, *days)
    with TemporaryFile() as file:
        file.write(columns.write_head(settings, year_begins=year_begins, days=days, now=now))
        _write_all(file, _read_bookings(read, settings))
        file.seek(0)
        yield from iter(partial(file.read, CHUNK_LENGTH), b"")


def _begin_of_year(settings: DatevSettings, first_day: date, last_day: date) -> date:
    """Return the begin of the fiscal year: a booking has no year of its own."""
    first_year, last_year = (
        day.year - (day.month < settings.year_begins) for day in (first_day, last_day)
    )
    if first_year < last_year:
        raise DatevRefusedError(
            Problem(
                gettext(
                    "A file of bookings is of one fiscal year, and yours begins with month"
                    " %(month)s: choose days of one year."
                )
                % {"month": settings.year_begins}
            )
        )
    return date(first_year, settings.year_begins, 1)


def _write_all(file: IO[bytes], bookings: Iterator[_Cells | Problem]) -> None:
    problems: dict[Problem, None] = {}
    count = 0
    for each in bookings:
        if isinstance(each, Problem):
            problems[each] = None
        elif not problems:
            file.write(columns.write_booking(each))
            count += 1
        if count > MOST_BOOKINGS:
            more = gettext("A file has at most %(most)s bookings: choose fewer days.")
            raise DatevRefusedError(Problem(more % {"most": MOST_BOOKINGS}))
        if len(problems) == MOST_PROBLEMS:
            break
    if problems:
        raise DatevRefusedError(*problems)


def _read_bookings(read: Read, settings: DatevSettings) -> Iterator[_Cells | Problem]:
    company = Company.objects.get()
    customers = Document.objects.select_related("customer")
    for document in read(customers.prefetch_related("tax_rows__tax_rate")):
        shares = [share for share in _shares_of(document, company) if share.gross]
        amounts = _write_amounts(document, [share.gross for share in shares])
        debtor = _debtor_of(document, settings)
        if not debtor:
            yield _no_debtor(document, settings)
        if isinstance(amounts, Problem):
            yield amounts
            continue
        for share, amount in zip(shares, amounts, strict=True):
            account = _account_of(share, settings)
            if isinstance(account, Problem):
                yield account
            elif amount:
                yield amount | _write_booking(document, share, debtor=debtor, account=account)


def _write_booking(document: Document, share: _Share, *, debtor: str, account: str) -> _Cells:
    is_told = share.category == TaxCategory.INTRA_COMMUNITY
    return {
        columns.SIDE: "H" if document.is_credit_note else "S",
        columns.ACCOUNT: debtor,
        columns.CONTRA_ACCOUNT: account,
        columns.DAY: f"{document.issue_date:%d%m}",
        columns.NUMBER: columns.write_number(str(document.number)),
        columns.TEXT: columns.write_text(document.buyer_name),
        columns.VAT_NUMBER: columns.write_vat_number(document.buyer_vat_number) if is_told else "",
    }


def _shares_of(document: Document, company: Company) -> Iterator[_Share]:
    """Yield the parts of the grand total; what a rate meant, or means where it was not kept."""
    left = document.grand_total
    for row in document.tax_rows.all():
        gross = row.taxable_amount + row.tax_amount
        left -= gross
        yield _Share(gross, row.category or row.tax_rate.category, row.tax_rate)
    yield _Share(left, document.untaxed_category or company.untaxed_category, None)


def _debtor_of(document: Document, settings: DatevSettings) -> str:
    """Return the account of the customer, or "": of the frozen number, else of the present one."""
    pattern = re.compile(rf"[1-6][0-9]{{{settings.account_length}}}")
    numbers = (customer_number_of(document), document.customer.customer_number)
    return next(filter(pattern.fullmatch, numbers), "")


def _no_debtor(document: Document, settings: DatevSettings) -> Problem:
    told = gettext(
        "A customer number has to be a DATEV debtor, of %(digits)s digits, the first of them 1 to"
        " 6. It is not that of:"
    )
    customer = document.customer
    digits = {"digits": settings.account_length + 1}
    return Problem(told % digits, "customer", customer.pk, customer.name)


def _account_of(share: _Share, settings: DatevSettings) -> str | Problem:
    """Return the revenue account of the rate, else that of its category."""
    if share.rate and share.rate.revenue_account:
        return _of_length(
            share.rate.revenue_account, share.rate.name, settings, "taxrate", share.rate.pk
        )
    if not share.category:
        return _unknown(share.rate)
    label = str(TaxCategory(share.category).label)
    account = settings.accounts.get(share.category, "")
    if not account:
        told = gettext("There is no revenue account for “%(name)s”.")
        return Problem(told % {"name": label}, "datevsettings")
    return _of_length(account, label, settings, "datevsettings")


def _unknown(rate: TaxRate | None) -> Problem:
    if rate is None:
        told = gettext(
            "Nobody has said yet what a line without a tax rate means, and it has no account."
        )
        return Problem(told, "company")
    told = gettext("Nobody has said yet what the tax rate “%(name)s” means, and it has no account.")
    return Problem(told % {"name": rate.name}, "taxrate", rate.pk)


def _of_length(
    account: str, name: str, settings: DatevSettings, model: str, pk: object = None
) -> str | Problem:
    """Return the account of what has this name, or that it has another length than all others."""
    digits = settings.account_length
    if len(account) == digits:
        return account
    told = (
        gettext("The account %(account)s of the tax rate “%(name)s” has not %(digits)s digits.")
        if model == "taxrate"
        else gettext("The account %(account)s of “%(name)s” has not %(digits)s digits.")
    )
    return Problem(told % {"account": account, "name": name, "digits": digits}, model, pk)


def _write_amounts(document: Document, shares: list[int]) -> list[_Cells] | Problem:
    """Return the cells of these amounts, whose sum is the document's total to the cent.

    An amount in another currency comes with its value in euros. If the format cannot write it, its
    value in euros is booked, and it is noted. Without cells is what comes to less than a cent.
    """
    euros = _convert(document, shares)
    if euros is None:
        told = gettext(
            "%(number)s is in %(currency)s and has no exchange rate to %(base)s: book it by hand,"
            " and choose the currencies here one by one."
        )
        values = {"currency": document.currency_code, "base": BASE_CURRENCY}
        return Problem(told % {"number": document.number, **values})
    cents = [share * 10**_DECIMALS // 10**document.minor_unit for share in shares]
    if max([*euros, *cents], default=0) > _MOST_CENTS:
        told = gettext("%(number)s is too large for a booking: book it by hand.")
        return Problem(told % {"number": document.number})
    if document.currency_code == BASE_CURRENCY:
        return [_in_euros(each) for each in euros]
    rate = _price_of_euro(document)
    if document.minor_unit > _DECIMALS or rate is None:
        return [
            _in_euros(value) | _note(document, share) if value else {}
            for value, share in zip(euros, shares, strict=True)
        ]
    return [
        {
            columns.AMOUNT: _write_number(each, _DECIMALS),
            columns.CURRENCY: document.currency_code,
            columns.RATE: rate,
            columns.BASE_AMOUNT: _write_number(value, _DECIMALS),
            columns.BASE: BASE_CURRENCY,
        }
        if value
        else {}
        for each, value in zip(cents, euros, strict=True)
    ]


def _in_euros(cents: int) -> _Cells:
    return {columns.AMOUNT: _write_number(cents, _DECIMALS), columns.CURRENCY: BASE_CURRENCY}


def _note(document: Document, share: int) -> _Cells:
    amount = _write_number(share, document.minor_unit)
    return {columns.NOTE_KIND: "Betrag", columns.NOTE: f"{document.currency_code} {amount}"}


def _write_number(value: int, decimals: int) -> str:
    return f"{Decimal(value).scaleb(-decimals):f}".replace(".", ",")


def _convert(document: Document, shares: list[int]) -> list[int] | None:
    """Return each amount in cents of a euro, by the document's own rate; None if it has none.

    Their sum is the converted total: each is what it adds to the sum of those before.
    """
    if document.currency_code == BASE_CURRENCY:
        return shares
    # The rate is between this currency and that of the taxes, which need not be the euro.
    between = {document.exchange_rate_base, document.national_currency}
    if not document.exchange_rate_millionths or BASE_CURRENCY not in between:
        return None
    rate = ExchangeRate(document.exchange_rate_millionths, document.exchange_rate_base)
    sums = []
    for amount in accumulate(shares, initial=0):
        money = Money(amount, document.currency_code, document.minor_unit)
        converted = convert(money, rate, BASE_CURRENCY, _DECIMALS)
        if converted is None:
            return None
        sums.append(converted)
    return [after - before for before, after in pairwise(sums)]


def _price_of_euro(document: Document) -> str | None:
    """Return what a euro costs in the document's currency, if the format can write that."""
    price = document.exchange_rate_millionths or 0
    if document.exchange_rate_base != BASE_CURRENCY:
        price = round_half_up(RATE_SCALE**2, price)
    is_writable = RATE_SCALE <= price < _MOST_OF_RATE * RATE_SCALE
    return _write_number(price, RATE_DECIMALS) if is_writable else None
