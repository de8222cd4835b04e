from importlib.resources import files
from xml.etree import ElementTree as ET

import pytest

from invoicing.errors import UnknownCurrencyError
from invoicing.money import (
    MAX_AMOUNT,
    SUPPORTED_CURRENCIES,
    ExchangeRate,
    Money,
    convert,
    minor_unit,
    round_half_up,
)


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [
        (1, 2, 1),
        (3, 2, 2),
        (5, 2, 3),
        (-1, 2, -1),
        (-5, 2, -3),
        (5, -2, -3),
        (-5, -2, 3),
        (49, 100, 0),
        (50, 100, 1),
        (0, 7, 0),
        (10**36 - 1, 2, 5 * 10**35),
    ],
)
def test_a_half_is_rounded_away_from_zero(numerator, denominator, expected) -> None:
    assert round_half_up(numerator, denominator) == expected


@pytest.mark.requirement("money.scale_and_totals")
@pytest.mark.parametrize(
    ("currency_code", "digits"),
    [("EUR", 2), ("USD", 2), ("JPY", 0), ("BHD", 3), ("HUF", 2), ("ISK", 0), ("TND", 3)],
)
def test_the_digits_of_a_currency_are_those_of_iso_4217(currency_code, digits) -> None:
    assert minor_unit(currency_code) == digits


@pytest.mark.parametrize(
    "currency_code", ["XAU", "XTS", "XXX", "XDR", "XAD", "CLF", "CHE", "UYW", "USN"]
)
def test_metals_test_codes_and_units_of_account_are_no_currencies(currency_code) -> None:
    assert currency_code not in SUPPORTED_CURRENCIES
    with pytest.raises(UnknownCurrencyError):
        minor_unit(currency_code)


def test_a_fund_that_the_standard_adds_becomes_no_currency_by_an_update() -> None:
    table = ET.fromstring((files("iso4217") / "table.xml").read_bytes())  # noqa: S314  the library's own file
    funds = {entry.findtext("Ccy") for entry in table.findall(".//CcyNm[@IsFund]/..")}
    assert {"CHE", "CHW", "CLF"} <= funds
    assert funds.isdisjoint(SUPPORTED_CURRENCIES)


def test_the_supported_currencies_are_listed_once_and_in_order() -> None:
    assert list(SUPPORTED_CURRENCIES) == sorted(set(SUPPORTED_CURRENCIES))
    assert len(SUPPORTED_CURRENCIES) > 150


@pytest.mark.parametrize(
    ("amount", "rate", "currency", "decimals", "converted"),
    [
        # 19.00 USD at 1.085 USD for a euro, and at 0.95 francs for a dollar.
        (1900, (1_085_000, "EUR"), "EUR", 2, 1751),
        (1900, (950_000, "USD"), "CHF", 2, 1805),
        (1900, (150_500_000, "USD"), "JPY", 0, 2860),
        (1900, (950_000, "GBP"), "CHF", 2, None),
        (MAX_AMOUNT, (1_000_001, "USD"), "CHF", 2, None),
    ],
)
def test_an_amount_is_converted_by_the_price_of_either_currency(
    amount, rate, currency, decimals, converted
):
    money = Money(amount, "USD", 2)
    assert convert(money, ExchangeRate(*rate), currency, decimals) == converted
