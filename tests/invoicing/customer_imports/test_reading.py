"""What is told from a file itself, and which files are refused, each in a sentence."""

import tracemalloc

import pytest

from invoicing.customer_imports import reading
from invoicing.customer_imports.columns import HEADERS, fold, propose_fields, read_value
from invoicing.customer_imports.planning import read_rows
from invoicing.customer_imports.reading import FileUnreadableError, Row, read_table

# A file is read without a database.
pytestmark = pytest.mark.sqlite

TEXT = "Kundennummer;Name;Straße\r\n\r\n7;Müller & Söhne;Große Gasse 1\r\n8;“Café”;\r\n"
ROWS = [Row(3, ["7", "Müller & Söhne", "Große Gasse 1"]), Row(4, ["8", "“Café”", ""])]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r"])
def test_encoding_separator_and_line_ends_are_told_apart(encoding, separator, line_end):
    text = TEXT.replace(";", separator).replace("\r\n", line_end)
    table = read_table(text.encode(encoding))
    assert table.headers == ["Kundennummer", "Name", "Straße"]
    assert [*table.rows] == ROWS


def test_utf_16_in_big_endian_and_latin_1_are_read():
    big = b"\xfe\xff" + "Name\nÄ\n".encode("utf-16-be")
    assert [*read_table(big).rows] == [Row(2, ["Ä"])]
    # 0x81 is no character in cp1252.
    assert [*read_table(b"Name\n\xc4\x81\xe4 \x81\n").rows] == [Row(2, ["Ä\x81ä \x81"])]


def test_the_mark_of_a_file_that_was_appended_is_no_part_of_a_cell():
    table = read_table("\ufeff\ufeffName\nA\n\ufeffB\n".encode())
    assert (table.headers, [*table.rows]) == (["Name"], [Row(2, ["A"]), Row(3, ["B"])])


def test_a_separator_in_a_header_does_not_hide_the_one_that_names_more_fields():
    table = read_table(b"Name, Vorname, Titel;PLZ;Ort\nA, B;1;C\n")
    assert [*table.rows] == [Row(2, ["A, B", "1", "C"])]


def test_quoted_cells_have_separators_line_breaks_and_quotation_marks():
    table = read_table(b'Name;Note\n"A; ""B""";"one\ntwo"\nC;D\n')
    assert [*table.rows] == [Row(2, ['A; "B"', "one\ntwo"]), Row(4, ["C", "D"])]


UNCLOSED = (
    "Line 3 cannot be read: a quotation mark is missing or misplaced, or a cell is far too long."
)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", reading.NO_ROWS),
        (b"Name\n\n  \n", reading.NO_ROWS),
        (b"Name\nA\0B\n", reading.NO_TEXT),
        (b"PK\x03\x04\x00\x00", reading.NO_TEXT),
        ("Name\nA\n".encode("utf-16-le"), reading.NO_TEXT),
        (b"\xff\xfeN", reading.NO_TEXT),
        (b'Name;Ort\nA;B\n"C;D\n', UNCLOSED),
        (b'Name;Ort\nA;B\n"C"D;E\n', UNCLOSED),
        (b'Name\n"A' + b"\nB" * 30_000, "Line 25001 is too long."),
        (b"Name\n" + b"x" * 10_000_000, "Line 2 is too long."),
        (b"," * 10_000_000, "Line 1 is too long."),
        (b"Name\n" + b"," * 10_000_000, "Line 2 is too long."),
        (b"Name" + b"," * 100 + b"\nA\n", reading.TOO_MANY_COLUMNS % {"columns": 100}),
        (b"Name,City\nA" + b"," * 100, reading.TOO_MANY_COLUMNS % {"columns": 100}),
        (b"Name\n" + b"A\n" * 50_001, reading.TOO_MANY_ROWS % {"rows": "50,000"}),
        (b"Name\n" + b"\n" * 1_500_000 + b"A", reading.TOO_MANY_LINES % {"lines": "1,500,000"}),
        (b"x" * (reading.MAX_BYTES + 1), reading.TOO_LARGE % {"megabytes": 20}),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(content, told):
    with pytest.raises(FileUnreadableError) as refused:
        list(read_table(content).rows)
    assert str(refused.value).removesuffix(" Is a quotation mark missing before it?") == told


def test_a_file_takes_the_memory_of_the_columns_that_are_wanted():
    content = b"Name" + b",Note" * 99 + b"\n" + (b"Acme" + b",some note" * 99 + b"\n") * 2000
    tracemalloc.start()
    rows = read_rows(read_table(content), ["name", *[""] * 99])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(rows), most < 2 * len(content)) == (2000, True)


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("Kundennummer", "customer_number"),
        ("customer number", "customer_number"),
        ("CUSTOMER_NUMBER", "customer_number"),
        ("Kd-Nr", "customer_number"),
        (" Firma ", "name"),
        ("STRASSE", "street"),
        ("Strasse", "street"),
        ("PLZ", "postcode"),
        ("Zip-Code", "postcode"),
        ("Ort", "city"),
        ("Laendercode", "country"),
        ("USt-IdNr.", "vat_number"),
        ("ust id nr", "vat_number"),
        ("Steuernummer", "tax_number"),
        ("e mail", "email"),
        ("Leitweg-ID", "buyer_reference"),
        ("Sprache", "language"),
        ("Waehrung", "currency_code"),
        ("Währung", "currency_code"),
        ("Zahlungsziel", "payment_days"),
        ("E-Rechnung", "e_invoice"),
        ("Telefon", ""),
        ("", ""),
    ],
)
def test_a_header_is_known_in_english_and_german(header, field):
    assert propose_fields([header]) == [field]


def test_no_header_names_two_fields_and_no_field_has_two_columns():
    known = [fold(header) for names in HEADERS.values() for header in {*map(fold, names)}]
    assert len(known) == len(set(known))
    assert propose_fields(["Name", "Firma", "Ort"]) == ["name", "", "city"]


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("country", "at", "AT"),
        ("country", "Österreich", "AT"),
        ("country", "OESTERREICH", "AT"),
        ("country", "A", "AT"),
        ("country", "AE", "AE"),
        ("country", "Germany", "DE"),
        ("country", "Narnia", "Narnia"),
        ("language", "Deutsch", "de"),
        ("language", "French", "fr"),
        ("currency_code", "eur", "EUR"),
        ("e_invoice", "ZUGFeRD", "factur-x"),
        ("e_invoice", "XRechnung", "xrechnung"),
        ("electronic_address_scheme", "E-mail address", "EM"),
        ("name", "Germany", "Germany"),
    ],
)
def test_a_choice_is_named_by_code_or_in_words(field, text, value):
    assert read_value(field, text) == value
