"""Electronic addresses, to which e-invoices go, and the schemes that say what each of them is.

The codes are those of the EAS code list of EN 16931 (Electronic Address Scheme), as version 1.3.16
of the official validation rules knows them (30 March 2026), without those for transport alone.
"""

from collections.abc import Mapping

from stdnum.de import leitweg

from invoicing.languages import APPLICATION_LANGUAGE, name_of_country
from invoicing.vat_numbers import compact_vat_number, country_of_vat_number

EMAIL = "EM"
LEITWEG_ID = "0204"

_GENERAL = {
    EMAIL: "E-mail address",
    "0088": "Global Location Number (GLN)",
    "0209": "GS1 identification key",
    "0060": "D-U-N-S number",
    "0199": "Legal Entity Identifier (LEI)",
    "0130": "Directorates of the European Commission",
}

# The VAT numbers of a country (ISO 3166).
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
_NATIONAL = {
    "AE": {"0235": "tax identification number (TIN)"},
    "AT": {"9915": "identifier of an authority", "9919": "number of the business register"},
    "AU": {"0151": "business number (ABN)"},
    "BE": {"0208": "enterprise number"},
    "CH": {"0183": "business identification number (UID)"},
    "CZ": {"0154": "identification number (IČO)"},
    "DE": {LEITWEG_ID: "Leitweg-ID"},
    "DK": {"0184": "CVR number", "0096": "P number", "0198": "SE number"},
    "EE": {"0191": "registry code"},
    "FI": {"0037": "business ID", "0212": "organisation identifier", "0216": "OVT code"},
    "FR": {"0002": "SIREN", "0009": "SIRET", "0225": "address in the national directory"},
    "IS": {"0196": "kennitala"},
    "IT": {
        "0210": "codice fiscale",
        "0205": "codice destinatario",
        "0201": "codice univoco (IPA)",
        "0202": "certified e-mail (PEC)",
    },
    "JP": {"0188": "corporate number", "0221": "number of a qualified invoice issuer"},
    "LT": {"0200": "legal entity code"},
    "LV": {"0218": "unified registration number"},
    "MY": {"0230": "national e-invoicing framework"},
    "NG": {"0244": "tax identification number"},
    "NL": {"0106": "KvK number", "0190": "identification number of an authority (OIN)"},
    "NO": {"0192": "organisation number"},
    "SE": {"0007": "organisation number"},
    "SG": {"0195": "unique entity number (UEN)"},
    "SK": {"0158": "identification number (IČO)", "0245": "tax identification number (DIČ)"},
    "US": {"9959": "employer identification number (EIN)"},
}


def _label_national() -> Mapping[str, str]:
    """Return the schemes of countries in words, by code, in order of the words."""
    numbers = [(country, code, "VAT number") for country, code in _VAT_NUMBERS.items()]
    for country, others in _NATIONAL.items():
        numbers += [(country, code, number) for code, number in others.items()]
    labels = {
        code: f"{name_of_country(country, APPLICATION_LANGUAGE)}: {number}"
        for country, code, number in numbers
    }
    return dict(sorted(labels.items(), key=lambda label: label[1]))


# Each scheme in words, by code.
SCHEMES: Mapping[str, str] = {**_GENERAL, **_label_national()}


def propose_addresses(*, email: str, vat_number: str, country: str) -> Mapping[str, str]:
    """Return what may be the electronic address of such a party, by scheme."""
    vat_scheme = _VAT_NUMBERS.get(country_of_vat_number(vat_number, country), "")
    proposed = {EMAIL: email, vat_scheme: compact_vat_number(vat_number)}
    return {scheme: address for scheme, address in proposed.items() if scheme and address}


def is_leitweg_id(text: str) -> bool:
    """Return whether it has the form and the check digits of a Leitweg-ID."""
    return bool(leitweg.is_valid(text))
