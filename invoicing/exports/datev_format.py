"""The DATEV format, EXTF 700, of bookings ("Buchungsstapel", version 13), as DATEV describes it.

Lines of cells in cp1252, parted by semicolons; every text is quoted, numbers are not.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from invoicing.exports.cells import defuse
from invoicing.models import DatevSettings

ENCODING = "cp1252"
BASE_CURRENCY = "EUR"
# How many bookings a file may have, and characters a booking's text.
MOST_BOOKINGS = 99_999
TEXT_LENGTH = 60
TITLE = "Ausgangsrechnungen"

AMOUNT, SIDE, CURRENCY = "Umsatz (ohne Soll/Haben-Kz)", "Soll/Haben-Kennzeichen", "WKZ Umsatz"
RATE, BASE_AMOUNT, BASE = "Kurs", "Basis-Umsatz", "WKZ Basis-Umsatz"
ACCOUNT, CONTRA_ACCOUNT = "Konto", "Gegenkonto (ohne BU-Schlüssel)"
DAY, NUMBER, TEXT = "Belegdatum", "Belegfeld 1", "Buchungstext"
NOTE_KIND, NOTE = "Beleginfo - Art 1", "Beleginfo - Inhalt 1"
VAT_NUMBER = "EU-Land u. UStID (Bestimmung)"

COLUMNS = (
    *(AMOUNT, SIDE, CURRENCY, RATE, BASE_AMOUNT, BASE, ACCOUNT, CONTRA_ACCOUNT, "BU-Schlüssel"),
    *(DAY, NUMBER, "Belegfeld 2", "Skonto", TEXT, "Postensperre", "Diverse Adressnummer"),
    *("Geschäftspartnerbank", "Sachverhalt", "Zinssperre", "Beleglink"),
    *(f"Beleginfo - {part} {place}" for place in range(1, 9) for part in ("Art", "Inhalt")),
    *("KOST1 - Kostenstelle", "KOST2 - Kostenstelle", "Kost-Menge", VAT_NUMBER),
    *("EU-Steuersatz (Bestimmung)", "Abw. Versteuerungsart", "Sachverhalt L+L"),
    *("Funktionsergänzung L+L", "BU 49 Hauptfunktionstyp", "BU 49 Hauptfunktionsnummer"),
    "BU 49 Funktionsergänzung",
    *(
        f"Zusatzinformation{part} {place}"
        for place in range(1, 21)
        for part in (" - Art", "- Inhalt")
    ),
    *("Stück", "Gewicht", "Zahlweise", "Forderungsart", "Veranlagungsjahr"),
    *("Zugeordnete Fälligkeit", "Skontotyp", "Auftragsnummer", "Buchungstyp"),
    *("USt-Schlüssel (Anzahlungen)", "EU-Land (Anzahlungen)", "Sachverhalt L+L (Anzahlungen)"),
    *("EU-Steuersatz (Anzahlungen)", "Erlöskonto (Anzahlungen)", "Herkunft-Kz", "Buchungs GUID"),
    *("KOST-Datum", "SEPA-Mandatsreferenz", "Skontosperre", "Gesellschaftername"),
    *("Beteiligtennummer", "Identifikationsnummer", "Zeichnernummer", "Postensperre bis"),
    *("Bezeichnung SoBil-Sachverhalt", "Kennzeichen SoBil-Buchung", "Festschreibung"),
    *("Leistungsdatum", "Datum Zuord. Steuerperiode", "Fälligkeit", "Generalumkehr (GU)"),
    *("Steuersatz", "Land", "Abrechnungsreferenz", "BVV-Position"),
    *("EU-Land u. UStID (Ursprung)", "EU-Steuersatz (Ursprung)", "Abw. Skontokonto"),
)
# The columns of texts, by their places, from 1.
_TEXTS = frozenset(
    {
        *(2, 3, 6, 9, 11, 12, 14, 16, *range(20, 39), 40, 42, *range(48, 88), 91, 95, 96, 98),
        *(102, 103, 105, 107, 109, 110, 112, 118, 120, 121, 123),
    }
)

# Letters that Unicode does not take apart into one of cp1252 and its mark.
_PLAIN = str.maketrans("łŁđĐħĦıŧŦ‐‑−", "lLdDhHitT---")  # noqa: RUF001  what is replaced


def write_head(
    settings: DatevSettings, *, year_begins: date, days: tuple[date, date], now: datetime
) -> bytes:
    """Return the two lines above the bookings of these first and last days."""
    head = (
        *(_quote("EXTF"), 700, 21, _quote("Buchungsstapel"), 13),
        *(f"{now:%Y%m%d%H%M%S}{now.microsecond // 1000:03d}", "", _quote("RE")),
        *(_quote(""), _quote(""), settings.adviser, settings.client, f"{year_begins:%Y%m%d}"),
        *(settings.account_length, *(f"{day:%Y%m%d}" for day in days), _quote(TITLE), _quote("")),
        # Of the financial accounts, for every purpose, and not fixed yet.
        *(1, 0, 0, _quote(BASE_CURRENCY), "", _quote(""), "", "", _quote(""), "", ""),
        *(_quote(""), _quote("")),
    )
    return _write_line(map(str, head)) + _write_line(COLUMNS)


def write_booking(cells: Mapping[str, str]) -> bytes:
    """Return a line with these cells, by the names of their columns."""
    return _write_line(
        _quote(cells.get(name, "")) if place in _TEXTS else cells.get(name, "")
        for place, name in enumerate(COLUMNS, 1)
    )


def write_text(text: str) -> str:
    """Return a text in one line, of at most TEXT_LENGTH characters, all of cp1252.

    A letter that is not of it loses its mark; what has no such letter becomes a question mark.
    """
    line = " ".join(text.split())
    return defuse("".join(map(_write_character, line)))[:TEXT_LENGTH]


def write_number(number: str) -> str:
    """Return the number of a document with the characters that the format allows in it."""
    return re.sub(r"[._]", "-", number)


def write_vat_number(typed: str) -> str:
    """Return the letters and digits of a VAT number, 15 at most."""
    return re.sub(r"[^A-Z0-9]", "", typed.upper())[:15]


def _write_character(character: str) -> str:
    if _is_encodable(character):
        return character
    plain = unicodedata.normalize("NFKD", character).translate(_PLAIN)
    return "".join(filter(_is_encodable, plain)) or "?"


def _is_encodable(character: str) -> bool:
    try:
        character.encode(ENCODING)
    except UnicodeEncodeError:
        return False
    return character.isprintable()


def _quote(text: str) -> str:
    return '"' + re.sub('"', '""', text) + '"'


def _write_line(cells: Iterable[str]) -> bytes:
    return (";".join(cells) + "\r\n").encode(ENCODING)
