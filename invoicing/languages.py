"""What languages and countries are called, as CLDR has it; Babel carries its data."""

from collections.abc import Iterator
from functools import cache

from babel import Locale

from invoicing.search.words import words_of

# The application's own; each document is written in one that its draft names.
APPLICATION_LANGUAGE = "en"

# What CLDR names beside the countries of ISO 3166-1; Kosovo, which has no code there, may stay.
_NO_COUNTRIES = {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"}
_CODE_LENGTH = 2


@cache
def locale_of(language: str) -> Locale:
    """Return how a language writes; raises UnknownLocaleError for one that CLDR lacks."""
    return Locale.parse(language, sep="-")


def name_of_language(language: str) -> str:
    """Return the language's name as the application speaks: "German"."""
    return locale_of(language).get_language_name(APPLICATION_LANGUAGE) or language


@cache
def name_of_country(code: str, language: str) -> str:
    """Return the country's name in a language: "Allemagne". What is no country stays as it is."""
    return dict(_countries(language)).get(code, code)


def countries_by_name() -> list[tuple[str, str]]:
    """Return the code (ISO 3166-1 alpha-2) and the name of every country, in order of the names."""
    return sorted(_countries(APPLICATION_LANGUAGE), key=lambda country: words_of(country[1]))


def _countries(language: str) -> Iterator[tuple[str, str]]:
    for code, name in locale_of(language).territories.items():
        if len(code) == _CODE_LENGTH and code.isalpha() and code not in _NO_COUNTRIES:
            yield code, name
