"""Amounts, dates and numbers as people read them, and as they type them."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from django.utils.translation import override

from invoicing.fixed_point import DECIMALS
from invoicing.models import User
from invoicing.money import MAX_AMOUNT, SUPPORTED_CURRENCIES, minor_unit
from invoicing.paper import formats
from invoicing.paper.formats import Formats, format_count, format_day, format_instant, local_date
from invoicing.web.typed_numbers import (
    MistypedNumberError,
    avoid_grouping,
    format_typed,
    parse_typed,
)

# Nothing here needs a database: once is enough.
pytestmark = pytest.mark.sqlite

SPACE = "\N{NO-BREAK SPACE}"
NARROW = "\N{NARROW NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("language", "currency", "amount", "written"),
    [
        ("en", "EUR", 123450, "€1,234.50"),
        ("en", "EUR", 0, "€0.00"),
        ("en", "USD", 5, "$0.05"),
        ("en", "JPY", 1234, "¥1,234"),
        ("en", "BHD", 1234, f"BHD{SPACE}1.234"),
        ("en", "BHD", MAX_AMOUNT, f"BHD{SPACE}999,999,999,999,999.999"),
        ("de", "EUR", 123450, f"1.234,50{SPACE}€"),
        ("de", "JPY", 1234, f"1.234{SPACE}¥"),
        ("fr", "EUR", 123450, f"1{NARROW}234,50{SPACE}€"),
        ("es", "USD", 123450, f"1.234,50{SPACE}US$"),
    ],
)
def test_money_is_written_for_language_and_currency(language, currency, amount, written):
    assert Formats(language, currency, minor_unit(currency)).money(amount) == written


@pytest.mark.parametrize("amount", [MAX_AMOUNT, 100_000_000_000_000_001, 123_456])
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_no_digit_of_an_amount_is_lost_or_made(language, amount):
    """The digits are ISO 4217's: CLDR's differ for a dozen currencies."""
    for currency in SUPPORTED_CURRENCIES:
        formats = Formats(language, currency, minor_unit(currency))
        for written in (formats.money(amount), formats.amount(amount)):
            assert "".join(filter(str.isdecimal, written)) == str(amount), currency


def test_the_decimals_are_the_documents_own():
    assert Formats("en", "EUR", 3).money(1234) == "€1.234"


@pytest.mark.parametrize(
    ("language", "quantity", "percentage", "discount", "day", "short_day"),
    [
        ("en", "1,234.5", "8.875%", "0.01%", "March 2, 2026", "Mar 2, 2026"),
        ("de", "1.234,5", f"8,875{SPACE}%", f"0,01{SPACE}%", "2. März 2026", "02.03.2026"),
    ],
)
def test_numbers_and_days_follow_the_language(
    language, quantity, percentage, discount, day, short_day
):
    formats = Formats(language, "EUR", 2)
    assert formats.quantity("1234.5") == quantity
    assert formats.percentage("8.875") == percentage
    assert formats.basis_points(1) == discount
    assert formats.day("2026-03-02") == formats.day(date(2026, 3, 2)) == day
    assert formats.short_day("2026-03-02") == short_day


@pytest.mark.parametrize(
    ("language", "day", "short_day"),
    [
        ("en", "November 20, 0026", "Nov 20, 0026"),
        ("de", "20. November 0026", "20.11.0026"),
        ("fr", "20 novembre 0026", "20 nov. 0026"),
        ("es", "20 de noviembre de 0026", "20 nov 0026"),
    ],
)
def test_the_year_26_is_not_written_like_2026(language, day, short_day):
    formats = Formats(language, "EUR", 2)
    assert (formats.day("0026-11-20"), formats.short_day("0026-11-20")) == (day, short_day)
    assert format_day(date(26, 11, 20)) == "November 20, 0026"


@pytest.mark.parametrize(
    ("time_zone", "written", "day"),
    [
        ("Europe/Berlin", "January 1, 2027, 00:30 CET", date(2027, 1, 1)),
        ("America/New_York", "December 31, 2026, 18:30 EST", date(2026, 12, 31)),
        ("Nowhere/Land", "December 31, 2026, 23:30 UTC", date(2026, 12, 31)),
        ("/etc/passwd", "December 31, 2026, 23:30 UTC", date(2026, 12, 31)),
        ("", "December 31, 2026, 23:30 UTC", date(2026, 12, 31)),
    ],
)
def test_a_moment_is_told_in_the_persons_time_zone(time_zone, written, day):
    moment = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    user = User(time_zone=time_zone)
    assert format_instant(moment, user) == written
    assert local_date(moment, user) == day


def test_without_any_time_zone_database_a_moment_is_told_in_utc(monkeypatch):
    def find(name: str) -> ZoneInfo:
        raise ZoneInfoNotFoundError(name)

    monkeypatch.setattr(formats, "ZoneInfo", find)
    written = format_instant(datetime(2026, 12, 31, 23, 30, tzinfo=UTC), User(time_zone="UTC"))
    assert written == "December 31, 2026, 23:30 UTC"


def test_a_moment_that_has_not_come_has_no_text():
    assert format_instant(None, User(time_zone="Europe/Berlin")) == ""


@pytest.mark.parametrize(
    ("decimals", "values"),
    [
        (0, {"007": 7}),
        (2, {"12": 1200, "12.5": 1250, " 12,50 ": 1250, "0.01": 1}),
        (3, {"1.234": 1234, "1.500": 1500, "1.000": 1000}),
        (4, {"1,2345": 12345, "1.2340": 12340}),
        # No separator of thousands stands there.
        (4, {"0.500": 5000, "0,500": 5000, "1234.500": 12345000, "1234,500": 12345000}),
        # Both signs, or one of them twice: each is one number only.
        (2, {"1.234,50": 123450, "1,234.50": 123450, "1.234.567": 123456700}),
        (2, {"1,234,567": 123456700, "12.345.678,9": 1234567890}),
        (3, {"1.234,567": 1234567, "1,234.567": 1234567}),
    ],
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_typed_number_is_kept_to_the_digit(decimals, values, language):
    if language == "de" and decimals == 3:  # a comma begins those decimals there
        swapped = str.maketrans(".,", ",.")
        values = {text.translate(swapped): value for text, value in values.items()}
    with override(language):
        assert {text: parse_typed(text, decimals=decimals) for text in values} == values


@pytest.mark.parametrize(
    ("decimals", "texts"),
    [
        (0, ("1.500", "1,234", "1.5")),
        (2, ("1.000", "1.234", "1.", ".5", "1 234", "1.23,45", "1,2345.6", "-1", "+1", "1e3")),
        (2, ("²", "\N{ARABIC-INDIC DIGIT ONE}", "", "NaN")),
        (3, ("1,234",)),
        (4, ("1,234", "1.500", "12.340", "999.999")),
    ],
)
def test_a_number_that_could_be_another_is_refused(decimals, texts, subtests):
    for text in texts:
        with subtests.test(text=text), pytest.raises(MistypedNumberError):
            parse_typed(text, decimals=decimals)


@pytest.mark.parametrize(("language", "read", "refused"), [("en", ".", ","), ("de", ",", ".")])
def test_the_sign_of_the_language_begins_the_decimals_of_a_percentage(language, read, refused):
    with override(language):
        assert parse_typed(f"8{read}875", decimals=4, is_percentage=True) == 88_750
        with pytest.raises(MistypedNumberError):
            parse_typed(f"8{refused}875", decimals=4, is_percentage=True)


@pytest.mark.parametrize("value", [0, 1, 99, 100, 12345, MAX_AMOUNT])
@pytest.mark.parametrize("decimals", [0, 2, 3, DECIMALS])
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_written_is_typed_back(value, decimals, language):
    with override(language):
        assert parse_typed(format_typed(value, decimals=decimals), decimals=decimals) == value


@pytest.mark.parametrize(
    ("language", "price", "quantity", "problem"),
    [
        ("en", "1234.50", "1.2340", "Write 1500 or 1.5."),
        ("de", "1234,50", "1,2340", "Write 1500 or 1,5."),
    ],
)
def test_a_form_has_numbers_in_the_language_of_the_page(language, price, quantity, problem):
    """The sentence itself may be translated; its numbers are at its end in each language."""
    with override(language):
        assert format_typed(123450, decimals=2) == price
        assert avoid_grouping("1.234", decimals=4) == quantity
        with pytest.raises(MistypedNumberError) as refused:
            parse_typed("1.500", decimals=2)
    for number in problem.removesuffix(".").split()[1::2]:
        assert number in refused.value.message


def test_pages_write_moments_days_and_counts_in_their_language():
    moment, user = datetime(2026, 3, 2, 9, 30, tzinfo=UTC), User(time_zone="Europe/Berlin")
    with override("de"):
        assert format_instant(moment, user) == "2. März 2026, 10:30 CET"
        assert format_day(moment.date()) == "2. März 2026"
        assert format_count(1_234_567) == "1.234.567"
    assert format_instant(moment, user) == "March 2, 2026, 10:30 CET"
    assert format_count(1_234_567) == "1,234,567"
