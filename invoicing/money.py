"""Currencies and rounding. Amounts are integers of the currency's minor unit, such as cents."""

from typing import NamedTuple

from iso4217 import Currency

from invoicing.errors import UnknownCurrencyError

AMOUNT_DIGITS = 18
MAX_AMOUNT: int = 10**AMOUNT_DIGITS - 1
# An exchange rate is an integer of millionths.
RATE_DECIMALS = 6
RATE_SCALE: int = 10**RATE_DECIMALS
# No entry of ISO 4217 has more.
MOST_DECIMALS = 4

# ISO 4217 lists units of account beside currencies: funds, and what the Arab Monetary Fund counts
# in (XAD). Nobody is invoiced in these.
_UNITS_OF_ACCOUNT = frozenset(
    {"BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI", "UYW", "XAD"}
)

_MINOR_UNITS: dict[str, int] = {
    currency.code: currency.exponent
    for currency in Currency
    # Metals, test codes and the like have no minor unit at all.
    if currency.exponent is not None and currency.code not in _UNITS_OF_ACCOUNT
}

SUPPORTED_CURRENCIES: tuple[str, ...] = tuple(sorted(_MINOR_UNITS))


def minor_unit(currency_code: str) -> int:
    """Return the number of decimal digits of the currency (ISO 4217): EUR 2, JPY 0, BHD 3.

    Raises UnknownCurrencyError for every code that is not supported.
    """
    try:
        return _MINOR_UNITS[currency_code]
    except KeyError:
        raise UnknownCurrencyError(currency_code) from None


class ExchangeRate(NamedTuple):
    """What one unit of the base currency costs in the other, in millionths."""

    millionths: int
    base: str


class Money(NamedTuple):
    """An amount in minor units of a currency that has so many decimals."""

    amount: int
    currency_code: str
    minor_unit: int


def convert(money: Money, rate: ExchangeRate, currency_code: str, decimals: int) -> int | None:
    """Return an amount in another currency of so many decimals, in its minor units, half up.

    None if the rate's base is neither of the two currencies, or the amount is larger than any.
    """
    numerator, denominator = money.amount * 10**decimals, 10**money.minor_unit
    if rate.base == money.currency_code:
        converted = round_half_up(numerator * rate.millionths, denominator * RATE_SCALE)
    elif rate.base == currency_code:
        converted = round_half_up(numerator * RATE_SCALE, denominator * rate.millionths)
    else:
        return None
    return converted if converted <= MAX_AMOUNT else None


def round_half_up(numerator: int, denominator: int) -> int:
    """Return numerator / denominator as the nearest integer, halves away from zero."""
    sign = -1 if (numerator < 0) != (denominator < 0) else 1
    numerator, denominator = abs(numerator), abs(denominator)
    return sign * ((2 * numerator + denominator) // (2 * denominator))
