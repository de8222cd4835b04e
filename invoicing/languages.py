"""The language of a page, and the names of languages and countries, from the CLDR data of Babel.

Two kinds of languages do not depend on each other. Pages and mails are in a person's: one of
settings.LANGUAGES, which are those that have a catalogue of translations. A document is in its own,
one of settings.DOCUMENT_LANGUAGES, whoever reads it.
"""

from collections.abc import Iterator
from functools import cache

from babel import Locale
from babel.numbers import get_territory_currencies
from django.conf import settings
from django.utils.translation import get_language

from invoicing.search.words import words_of

# Two-letter CLDR territories that ISO 3166-1 does not list as countries; Kosovo (XK) is kept.
_NO_COUNTRIES = {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"}
_CODE_LENGTH = 2
# Currencies that are newer than Babel's data.
_NEW_CURRENCIES = {"BG": "EUR"}


def page_language() -> str:
    """Return the language in which a page, a mail or a command's answer is being written: "de"."""
    return get_language() or settings.LANGUAGE_CODE


def pages_languages() -> list[tuple[str, str]]:
    """Return the code and the name of each language of the pages, named in itself: "Deutsch"."""
    codes = dict(settings.LANGUAGES)
    return [(code, locale_of(code).get_display_name(code) or code) for code in codes]


@cache
def locale_of(language: str) -> Locale:
    """Return the locale of a language such as "de"; raises UnknownLocaleError if CLDR has none."""
    return Locale.parse(language, sep="-")


def name_of_language(language: str) -> str:
    """Return the language's name in the language of the page: "German"."""
    return locale_of(language).get_language_name(page_language()) or language


@cache
def name_of_country(code: str, language: str) -> str:
    """Return the country's name in a language: "Allemagne"; an unknown code stays as it is."""
    return dict(_countries(language)).get(code, code)


def currency_of_country(code: str) -> str:
    """Return the currency in use in a country (ISO 4217), or "" if the country is not known."""
    currencies: list[str] = get_territory_currencies(code) if code else []
    return _NEW_CURRENCIES.get(code) or next(iter(currencies), "")


@cache
def is_country(code: str) -> bool:
    """Return whether this is the code of a country (ISO 3166-1 alpha-2)."""
    return code in dict(_countries(settings.LANGUAGE_CODE))


def countries_by_name() -> list[tuple[str, str]]:
    """Return each country's code (ISO 3166-1 alpha-2) and name, in order of the page's names."""
    return sorted(_countries(page_language()), key=lambda country: words_of(country[1]))


def _countries(language: str) -> Iterator[tuple[str, str]]:
    for code, name in locale_of(language).territories.items():
        if len(code) == _CODE_LENGTH and code.isalpha() and code not in _NO_COUNTRIES:
            yield code, name
