"""Which column of a file is which field of a customer, and how its values may be spelled."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from agent_access.translations import Text
from invoicing.e_invoices.kinds import Kind
from invoicing.electronic_addresses import schemes
from invoicing.languages import countries_by_name, locale_of, name_of_country
from invoicing.money import SUPPORTED_CURRENCIES

# The headers of each field that are known.
HEADERS: Mapping[str, Sequence[str]] = {
    "customer_number": (
        *("Customer number", "Customer no.", "Customer ID", "Account number", "Number"),
        *("Kundennummer", "Kundennr.", "Kunden-Nr.", "Kd.-Nr.", "Kunde Nr.", "Debitorennummer"),
        *("Debitor", "Nummer", "Nr."),
    ),
    "name": (
        *("Name", "Customer", "Customer name", "Company", "Company name", "Organisation"),
        *("Organization", "Kunde", "Kundenname", "Firma", "Firmenname", "Unternehmen"),
    ),
    "street": (
        *("Street", "Street address", "Address", "Address line 1", "Straße", "Str."),
        *("Straße und Hausnummer", "Straße, Nr.", "Adresse", "Anschrift"),
    ),
    "address_line": (
        *("Further address line", "Address line 2", "Address 2", "Adresszusatz", "Adresszeile 2"),
        *("Adresse 2", "Zusatz"),
    ),
    "postcode": ("Postcode", "Postal code", "ZIP", "ZIP code", "PLZ", "Postleitzahl"),
    "city": ("City", "Town", "Place", "Ort", "Stadt", "Wohnort"),
    "region": ("Region", "State", "Province", "County", "Bundesland", "Kanton"),
    "country": ("Country", "Country code", "Land", "Ländercode", "Länderkürzel", "Staat"),
    "vat_number": (
        *("VAT number", "VAT no.", "VAT ID", "VAT identification number", "VAT", "Tax ID"),
        *("USt-IdNr.", "USt-ID", "UID", "UID-Nummer", "Umsatzsteuer-ID", "USt-Identnummer"),
        *("Umsatzsteuer-Identifikationsnummer", "MwSt-Nr."),
    ),
    "tax_number": ("Tax number", "Tax no.", "Steuernummer", "Steuer-Nr.", "St.-Nr."),
    "email": (
        *("E-mail address", "E-mail", "Mail", "E-Mail-Adresse", "Mailadresse"),
        *("Rechnungs-E-Mail", "Invoice e-mail"),
    ),
    "electronic_address": ("Electronic address", "Elektronische Adresse", "Peppol-ID"),
    "electronic_address_scheme": (
        *("Electronic address scheme", "Electronic address is", "Scheme", "EAS", "EAS-Code"),
        *("Schema", "Art der elektronischen Adresse"),
    ),
    "buyer_reference": (
        *("Buyer reference", "Leitweg-ID", "Käuferreferenz", "Kundenreferenz"),
        *("Your reference", "Ihre Referenz", "Ihr Zeichen"),
    ),
    "language": ("Language", "Language code", "Sprache", "Sprachcode"),
    "currency_code": ("Currency", "Currency code", "Währung", "Währungscode"),
    "payment_days": (
        *("Days to pay", "Payment days", "Payment term", "Payment terms", "Terms of payment"),
        *("Zahlungsziel", "Zahlungsziel in Tagen", "Zahlungsfrist", "Tage"),
    ),
    "e_invoice": ("E-invoice", "E-invoice format", "E-Rechnung", "E-Rechnungsformat"),
}
LABELS: Mapping[str, Text] = {
    "customer_number": _("Customer number"),
    "name": _("Name"),
    "street": _("Street"),
    "address_line": _("Further address line"),
    "postcode": _("Postcode"),
    "city": _("City"),
    "region": _("Region"),
    "country": _("Country"),
    "vat_number": _("VAT number"),
    "tax_number": _("Tax number"),
    "email": _("E-mail address"),
    "electronic_address": _("Electronic address"),
    "electronic_address_scheme": _("Electronic address scheme"),
    "buyer_reference": _("Buyer reference"),
    "language": _("Language"),
    "currency_code": _("Currency"),
    "payment_days": _("Days to pay"),
    "e_invoice": _("E-invoice"),
}

# Names beside those that CLDR has for a country, and that of the list of kinds.
_OTHER_NAMES: Mapping[str, Mapping[str, str]] = {
    "country": {"A": "AT", "D": "DE", "UK": "GB", "England": "GB", "USA": "US"},
    "e_invoice": {"ZUGFeRD": Kind.FACTUR_X, "Peppol": Kind.PEPPOL},
}

_NAMED_IN = ("en", "de")

_E_OF_UMLAUT = re.compile("(?<=[aou])e")
_NO_WORD = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Return the text without case, spaces, signs and accents: Straße, STRASSE; Länder, Laender."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return _E_OF_UMLAUT.sub("", _NO_WORD.sub("", letters))


def propose_fields(headers: Sequence[str]) -> list[str]:
    """Return the field of each column, "" for one whose header is unknown or repeats a field."""
    fields: list[str] = []
    for header in headers:
        field = _known_headers().get(fold(header), "")
        fields.append("" if field in fields else field)
    return fields


@cache
def _known_headers() -> Mapping[str, str]:
    return {fold(header): field for field, known in HEADERS.items() for header in known}


def read_value(field: str, text: str) -> str:
    """Return the code that a text means in a field with a fixed choice; any other stays as it is.

    Codes are taken in any case, names in English and German.
    """
    if field not in _choices():
        return text
    codes, names = _choices()[field]
    return codes.get(text.casefold()) or names.get(fold(text), text)


@cache
def _choices() -> Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]]:
    """Return for each such field the codes by their folded form, and by the folded names."""
    named: Mapping[str, Sequence[tuple[str, Any]]] = {
        "country": [
            (code, name_of_country(code, language))
            for code, _name in countries_by_name()
            for language in _NAMED_IN
        ],
        "language": [
            (code, str(locale_of(code).get_language_name(language)))
            for code, _name in settings.DOCUMENT_LANGUAGES
            for language in _NAMED_IN
        ],
        "currency_code": [(code, code) for code in SUPPORTED_CURRENCIES],
        "electronic_address_scheme": _in_each(lambda: schemes().items()),
        "e_invoice": _in_each(lambda: Kind.choices),
    }
    return {
        field: (
            {code.casefold(): code for code, _ in choices},
            {fold(name): code for code, name in choices}
            | {fold(name): str(code) for name, code in _OTHER_NAMES.get(field, {}).items()},
        )
        for field, choices in named.items()
    }


def _in_each(choices: Callable[[], Iterable[tuple[str, Any]]]) -> list[tuple[str, str]]:
    """Return codes and names as the pages have them in each language that files may be in."""
    named = []
    for language in _NAMED_IN:
        with override(language):
            named += [(code, str(name)) for code, name in choices()]
    return named
