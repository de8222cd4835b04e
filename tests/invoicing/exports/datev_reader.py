"""Reads files in the DATEV format as their public description says, and knows nothing of ours.

https://developer.datev.de/datev/platform/de/dtvf: fields by their places, from 1.
"""

import re
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

FIELD = re.compile(r'"(?:[^"]|"")*"|[^";]*')
HEAD = {
    1: r'"EXTF"',
    2: r"700",
    3: r"21",
    4: r'"Buchungsstapel"',
    5: r"13",
    6: r"20\d{15}",
    7: r"",
    8: r'"[A-Z]{0,2}"',
    9: r'"\w{0,25}"',
    10: r'"\w{0,25}"',
    11: r"\d{4,7}",
    12: r"\d{1,5}",
    13: r"20\d{6}",
    14: r"[4-8]",
    15: r"20\d{6}",
    16: r"20\d{6}",
    17: r'"[\w.\-/ ]{0,30}"',
    18: r'"([A-Z]{2}){0,2}"',
    19: r"[12]",
    20: r"0|30|40|50|64",
    21: r"[01]",
    22: r'"[A-Z]{3}"',
    23: r"",
    24: r'""',
    25: r"",
    26: r"",
    27: r'"\d{0,2}"',
    28: r"\d{0,4}",
    29: r"",
    30: r'""',
    31: r'".{0,16}"',
}
BOOKING = {
    1: r"(?!0+,00)\d{1,10},\d{2}",
    2: r'"[SH]"',
    3: r'"[A-Z]{3}"',
    4: r"([1-9]\d{0,3},\d{2,6})?",
    5: r"(\d{1,10},\d{2})?",
    6: r'"([A-Z]{3})?"',
    7: r"[1-9]\d{0,8}",
    8: r"[1-9]\d{0,8}",
    9: r'"(\d{4})?"',
    10: r"(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])",
    11: r'"[\w$%\-/&*+]{0,36}"',
    12: r'"[\w$%\-/&*+]{0,12}"',
    13: r"(\d{1,8},\d{2})?",
    14: r'"(?:[^"]|""){0,60}"',
    21: r'"(?:[^"]|""){0,20}"',
    22: r'"(?:[^"]|""){0,210}"',
    40: r'".{0,15}"',
}
COLUMNS = 125
# Some of the fields that are texts, and so quoted even if they are empty, and some that are not.
TEXTS = (12, 16, 20, 37, 38, 42, 48, 87, 91, 95, 96, 98, 102, 105, 107, 109, 118, 120, 121, 123)
NO_TEXTS = (15, 17, 18, 19, 39, 41, 43, 47, 88, 90, 94, 97, 101, 106, 114, 115, 117, 119, 122, 125)
NAMES = {
    1: "Umsatz (ohne Soll/Haben-Kz)",
    14: "Buchungstext",
    40: "EU-Land u. UStID (Bestimmung)",
    48: "Zusatzinformation - Art 1",
    87: "Zusatzinformation- Inhalt 20",
    114: "Festschreibung",
    121: "Abrechnungsreferenz",
    125: "Abw. Skontokonto",
}


class Booking(NamedTuple):
    """`amount` is positive where the customer owes it; other currencies have `rate` and `base`."""

    number: str
    amount: Decimal
    currency: str
    debtor: str
    account: str
    day: str
    text: str
    rate: str
    base: Decimal | None
    note: str
    vat_number: str


class File(NamedTuple):
    head: dict[str, Any]
    bookings: list[Booking]


def read_file(content: bytes) -> File:
    """Return what the file says; an assertion fails where it breaks the description."""
    text = content.decode("cp1252")
    assert text.endswith("\r\n")
    head, names, *rows = text.removesuffix("\r\n").split("\r\n")
    assert "\n" not in head + names + "".join(rows)
    fields = _split(head, HEAD)
    assert len(fields) == len(HEAD)
    columns = dict(enumerate(names.split(";"), 1))
    assert len(columns) == len(set(columns.values())) == COLUMNS
    assert {place: columns[place] for place in NAMES} == NAMES
    read = {
        "adviser": fields[11],
        "client": fields[12],
        "year_begins": _day(fields[13]),
        "account_length": int(fields[14]),
        "days": (_day(fields[15]), _day(fields[16])),
        "title": _text(fields[17]),
        "currency": _text(fields[22]),
    }
    return File(read, [_booking(row, int(fields[14])) for row in rows])


def _booking(row: str, account_length: int) -> Booking:
    fields = _split(row, BOOKING)
    assert len(fields) == COLUMNS
    assert {fields[place] for place in TEXTS} == {'""'}
    assert {fields[place] for place in NO_TEXTS} == {""}
    assert len(fields[7]) == account_length + 1
    assert len(fields[8]) == account_length
    assert bool(fields[4]) == bool(fields[5]) == bool(_text(fields[6]))
    sign = {"S": 1, "H": -1}[_text(fields[2])]
    return Booking(
        number=_text(fields[11]),
        amount=sign * _number(fields[1]),
        currency=_text(fields[3]),
        debtor=fields[7],
        account=fields[8],
        day=fields[10],
        text=_text(fields[14]),
        rate=fields[4],
        base=sign * _number(fields[5]) if fields[5] else None,
        note=f"{_text(fields[21])} {_text(fields[22])}".strip(),
        vat_number=_text(fields[40]),
    )


def _split(line: str, patterns: dict[int, str]) -> dict[int, str]:
    fields, place = [], 0
    while place <= len(line):
        match = FIELD.match(line, place)
        assert match
        fields.append(match[0])
        place = match.end() + 1
        assert line[match.end() : place] in {";", ""}
    read = dict(enumerate(fields, 1))
    for number, pattern in patterns.items():
        assert re.fullmatch(pattern, read[number]), (number, read[number])
    return read


def _text(field: str) -> str:
    assert field[0] == field[-1] == '"'
    return field[1:-1].replace('""', '"')


def _number(field: str) -> Decimal:
    return Decimal(field.replace(",", "."))


def _day(field: str) -> date:
    return date.fromisoformat(f"{field[:4]}-{field[4:6]}-{field[6:]}")
