"""Electronic addresses, to which e-invoices go, and the schemes that say what each of them is.

The codes are those of the EAS code list of EN 16931 (Electronic Address Scheme), as version 1.3.16
of the official validation rules knows them (30 March 2026), without those for transport alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from stdnum import ean
from stdnum.au import abn
from stdnum.be import vat as enterprise_number
from stdnum.de import leitweg
from stdnum.no import orgnr as norwegian
from stdnum.se import orgnr as swedish

from invoicing.languages import name_of_country, page_language
from invoicing.vat_numbers import compact_vat_number, country_of_vat_number

EMAIL = "EM"
LEITWEG_ID = "0204"

_GENERAL = {
    EMAIL: _("E-mail address"),
    "0088": _("Global Location Number (GLN)"),
    "0209": _("GS1 identification key"),
    "0060": _("D-U-N-S number"),
    "0199": _("Legal Entity Identifier (LEI)"),
    "0130": _("Directorates of the European Commission"),
}

_VAT_NUMBER = _("VAT number")
# The schemes of the VAT numbers of a country (ISO 3166).
_VAT_NUMBERS = {
    "AD": "9922",
    "AL": "9923",
    "AT": "9914",
    "BA": "9924",
    "BE": "9925",
    "BG": "9926",
    "CH": "9927",
    "CY": "9928",
    "CZ": "9929",
    "DE": "9930",
    "EE": "9931",
    "ES": "9920",
    "FI": "0213",
    "FR": "9957",
    "GB": "9932",
    "GR": "9933",
    "HR": "9934",
    "HU": "9910",
    "IE": "9935",
    "IT": "0211",
    "LI": "9936",
    "LT": "9937",
    "LU": "9938",
    "LV": "9939",
    "MC": "9940",
    "ME": "9941",
    "MK": "9942",
    "MT": "9943",
    "NL": "9944",
    "PL": "9945",
    "PT": "9946",
    "RO": "9947",
    "RS": "9948",
    "SI": "9949",
    "SK": "9950",
    "SM": "9951",
    "TR": "9952",
    "VA": "9953",
}

# Other numbers of a country.
_NATIONAL: Mapping[str, Mapping[str, str | Promise]] = {
    "AE": {"0235": _("tax identification number (TIN)")},
    "AT": {"9915": _("identifier of an authority"), "9919": _("number of the business register")},
    "AU": {"0151": _("business number (ABN)")},
    "BE": {"0208": _("enterprise number")},
    "CH": {"0183": _("business identification number (UID)")},
    "CZ": {"0154": _("identification number (IČO)")},
    "DE": {LEITWEG_ID: "Leitweg-ID"},
    "DK": {"0184": _("CVR number"), "0096": _("P number"), "0198": _("SE number")},
    "EE": {"0191": _("registry code")},
    "FI": {"0037": _("business ID"), "0212": _("organisation identifier"), "0216": _("OVT code")},
    "FR": {"0002": "SIREN", "0009": "SIRET", "0225": _("address in the national directory")},
    "IS": {"0196": "kennitala"},
    "IT": {
        "0210": "codice fiscale",
        "0205": "codice destinatario",
        "0201": "codice univoco (IPA)",
        "0202": _("certified e-mail (PEC)"),
    },
    "JP": {"0188": _("corporate number"), "0221": _("number of a qualified invoice issuer")},
    "LT": {"0200": _("legal entity code")},
    "LV": {"0218": _("unified registration number")},
    "MY": {"0230": _("national e-invoicing framework")},
    "NG": {"0244": _("tax identification number")},
    "NL": {"0106": _("KvK number"), "0190": _("identification number of an authority (OIN)")},
    "NO": {"0192": _("organisation number")},
    "SE": {"0007": _("organisation number")},
    "SG": {"0195": _("unique entity number (UEN)")},
    "SK": {"0158": _("identification number (IČO)"), "0245": _("tax identification number (DIČ)")},
    "US": {"9959": _("employer identification number (EIN)")},
}

# Numbers of which Peppol wants the digits alone and the check digits right (PEPPOL-COMMON-R040,
# R041, R043, R049 and R050).
_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "0007": swedish.is_valid,
    "0088": ean.is_valid,
    "0151": abn.is_valid,
    "0192": norwegian.is_valid,
    "0208": enterprise_number.is_valid,
}
_BELGIAN, _BELGIAN_DIGITS = "0208", 10


def schemes() -> Mapping[str, str]:
    """Return each scheme in words of the page's language, by code."""
    general = {code: str(label) for code, label in _GENERAL.items()}
    return general | _label_national(page_language())


def _label_national(language: str) -> dict[str, str]:
    """Return the schemes of countries in words, by code, in order of the words."""
    vat_numbers = _VAT_NUMBERS.items()
    numbers: list[tuple[str, str, Any]] = [(each, code, _VAT_NUMBER) for each, code in vat_numbers]
    for country, others in _NATIONAL.items():
        numbers += [(country, code, number) for code, number in others.items()]
    labels = {
        code: f"{name_of_country(country, language)}: {number}" for country, code, number in numbers
    }
    return dict(sorted(labels.items(), key=lambda label: label[1]))


def propose_addresses(*, email: str, vat_number: str, country: str) -> Mapping[str, str]:
    """Return what may be the electronic address of such a party, by scheme."""
    vat_scheme = _VAT_NUMBERS.get(country_of_vat_number(vat_number, country), "")
    proposed = {EMAIL: email, vat_scheme: compact_vat_number(vat_number)}
    return {scheme: address for scheme, address in proposed.items() if scheme and address}


def is_leitweg_id(text: str) -> bool:
    """Return whether it has the form and the check digits of a Leitweg-ID."""
    return bool(leitweg.is_valid(text))


def is_number_of_scheme(text: str, scheme: str) -> bool:
    """Return whether it has the digits and check digits that Peppol wants of such a number."""
    if not (check := _CHECKS.get(scheme)):
        return True
    is_complete = scheme != _BELGIAN or len(text) == _BELGIAN_DIGITS
    return text.isascii() and text.isdecimal() and is_complete and bool(check(text))
