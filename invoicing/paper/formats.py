"""Amounts, dates and numbers as people read them, formatted by Babel.

A whole document is shown in its own language. Pages, and all their lists, are in that of the page,
so that a column looks the same from row to row.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.dates import format_date, format_datetime
from babel.numbers import NumberPattern, format_decimal, get_currency_symbol, parse_pattern

from invoicing.fixed_point import DECIMALS
from invoicing.languages import locale_of, page_language
from invoicing.models import User
from invoicing.money import RATE_DECIMALS
from invoicing.totals import BASIS_POINTS


def _with_decimals(pattern: str, fewest: int, most: int) -> NumberPattern:
    """Return a copy of a pattern with its own number of decimals: Babel's patterns are shared."""
    parsed = parse_pattern(pattern)
    parsed.frac_prec = (fewest, most)
    return parsed


@dataclass(frozen=True)
class Formats:
    """Formats for one document; its own `minor_unit` (ISO 4217) tells the decimals of amounts."""

    language: str
    currency_code: str
    minor_unit: int

    def money(self, amount: int) -> str:
        """Write minor units with their currency: 123450 is "€1,234.50" or "1.234,50 €"."""
        locale = locale_of(self.language)
        pattern = locale.currency_formats["standard"].pattern
        if get_currency_symbol(self.currency_code, locale)[-1].isalpha():
            # CLDR puts a space after letters, as in "BHD 1.000"; Babel does not apply that rule.
            pattern = pattern.replace("¤#", "¤\N{NO-BREAK SPACE}#")
        return self._write_amount(pattern, amount)

    def amount(self, amount: int) -> str:
        """Write minor units without the currency, for columns whose head names it: "1,234.50"."""
        return self._write_amount(locale_of(self.language).decimal_formats[None].pattern, amount)

    def quantity(self, quantity: str) -> str:
        """Write a decimal string of format_fixed_point(): "1.5" is "1,5" in German."""
        pattern = locale_of(self.language).decimal_formats[None].pattern
        return self._write(_with_decimals(pattern, 0, DECIMALS), Decimal(quantity))

    def exchange_rate(self, rate: str) -> str:
        """Write a decimal string of an exchange rate: "1.0854" is "1,0854" in German."""
        pattern = locale_of(self.language).decimal_formats[None].pattern
        return self._write(_with_decimals(pattern, 0, RATE_DECIMALS), Decimal(rate))

    def percentage(self, percentage: str) -> str:
        """Write a decimal string of percent: "8.875" is "8.875%" or "8,875 %"."""
        pattern = locale_of(self.language).percent_formats[None].pattern
        fraction = Decimal(percentage) / 100
        return self._write(_with_decimals(pattern, 0, DECIMALS), fraction)

    def basis_points(self, basis_points: int) -> str:
        """Write basis points as percent: 1000 is "10%"."""
        return self.percentage(str(Decimal(basis_points) * 100 / BASIS_POINTS))

    def day(self, day: date | str) -> str:
        """Write a day in full: "March 2, 2026"."""
        return _write_day(day, "long", self.language)

    def short_day(self, day: date | str) -> str:
        """Write a day for a column: "Mar 2, 2026"."""
        return _write_day(day, "medium", self.language)

    def _write_amount(self, pattern: str, amount: int) -> str:
        exact = _with_decimals(pattern, self.minor_unit, self.minor_unit)
        return self._write(exact, Decimal(amount).scaleb(-self.minor_unit))

    def _write(self, pattern: NumberPattern, number: Decimal) -> str:
        written: str = pattern.apply(
            number, locale_of(self.language), currency=self.currency_code, currency_digits=False
        )
        return written


def format_instant(instant: datetime | None, user: User) -> str:
    """Write an instant in the person's own time zone: "March 2, 2026, 10:30 CET"; None is empty.

    In German it is "2. März 2026, 10:30 CET".
    """
    if instant is None:
        return ""
    local = instant.astimezone(time_zone_of(user))
    locale = locale_of(page_language())
    pattern = f"{locale.date_formats['long'].pattern}, HH:mm"
    return f"{format_datetime(local, pattern, locale=locale)} {local:%Z}"


def format_count(count: int) -> str:
    """Write how many there are in the language of the page: "1,234", in German "1.234"."""
    return format_decimal(count, locale=locale_of(page_language()))


def format_clock(instant: datetime, user: User) -> str:
    """Write a time of the day to the second, in the person's own time zone: "10:30:07 CET"."""
    return f"{instant.astimezone(time_zone_of(user)):%H:%M:%S %Z}"


def format_day(day: date) -> str:
    """Write a date in the language of the page, not of a document: "March 2, 2026"."""
    return _write_day(day, "long", page_language())


def _write_day(day: date | str, length: Literal["medium", "long"], language: str) -> str:
    known = day if isinstance(day, date) else date.fromisoformat(day)
    locale = locale_of(language)
    # Four digits of the year, by CLDR as many as it has: the year 26 would pass for 2026.
    pattern = locale.date_formats[length].pattern.replace("y", "yyyy")
    return format_date(known, pattern, locale=locale)


def local_date(instant: datetime, user: User) -> date:
    """Return the date in the person's time zone."""
    return instant.astimezone(time_zone_of(user)).date()


def time_zone_of(user: User) -> tzinfo:
    """Return the person's own time zone; UTC where it is unknown."""
    try:
        return ZoneInfo(user.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
