"""Whether a VAT number fits its country, by the length and check digits that the country set."""

import re

from stdnum.ch import vat as swiss
from stdnum.eu import vat as european
from stdnum.exceptions import ValidationError
from stdnum.gb import vat as british

# The EU's, and XI of Northern Ireland. Greece is EL in VAT numbers and GR otherwise.
_EUROPEAN = frozenset(country.upper() for country in european.MEMBER_STATES)
_KNOWN = _EUROPEAN | {"CH", "GB"}
_GREECE = {"EL": "GR"}

_SEPARATORS = re.compile(r"[\s.,/-]")


def compact_vat_number(number: str) -> str:
    """Return a VAT number in capitals, without what stands between its parts."""
    return _SEPARATORS.sub("", number).upper()


def country_of_vat_number(number: str, country: str) -> str:
    """Return the country that a VAT number names (ISO 3166, or XI), else that of its party."""
    named = compact_vat_number(number)[:2]
    named = _GREECE.get(named, named)
    return named if named in _KNOWN else country


def is_vat_number_valid(country: str, number: str) -> bool:
    """Return whether a VAT number is well-formed; True where the country's form is not known.

    The country (ISO 3166) counts unless the number begins with another one.
    """
    compact = compact_vat_number(number)
    country = country_of_vat_number(compact, country)
    if country not in _KNOWN:
        return True
    if not compact.isascii():  # the library takes letters and digits of any script
        return False
    try:
        _validate(country, compact)
    except ValidationError:
        return False
    return True


def _validate(country: str, number: str) -> None:
    if country == "CH":
        swiss.validate(number if number.startswith("CHE") else f"CHE{number}")
    elif country == "GB":
        british.validate(number)
    else:
        prefixes = {country, "EL"} if country == "GR" else {country}
        european.validate(number if number[:2] in prefixes else country + number)
