import csv
import unicodedata
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from invoicing.exports.cells import Cell, defuse, write_csv

TEXTS = st.text(st.sampled_from("a=+-@\uff1d;,\t\r\n \"'") | st.characters(codec="utf-8"))


def read(content, delimiter):
    return list(csv.reader(content.splitlines(keepends=True), delimiter=delimiter))


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "  =1", "\u200b=1"),
        *("＝1", "＋1", "－1", "＠1", "﹦1", "\u22121"),  # noqa: RUF001  what is looked for
    ],
)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert defuse(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Müller & Söhne", "a-b", "x@example.test", "'=1", "1 + 1"])
def test_other_texts_stay(text):
    assert defuse(text) == text


def test_a_cell_that_another_separator_would_make_is_defused_too():
    assert defuse('Cable;=1+1\n-2 m; "@x') == "Cable;'=1+1\n'-2 m;' \"@x"


def test_numbers_and_dates_are_no_texts_and_stay():
    rows: list[list[Cell]] = [
        ["Total", "Day", "Note"],
        [Decimal("-12.50"), date(2026, 3, 2), "-12.50"],
        [-1, None, ""],
    ]
    assert b"".join(write_csv(rows)) == (
        "\ufeffTotal,Day,Note\r\n-12.50,2026-03-02,'-12.50\r\n-1,,\r\n".encode()
    )


@given(st.lists(TEXTS, min_size=2, max_size=3))
@example(["a", ';""=1'])
@example(["a", '\n"=1'])
def test_no_text_becomes_a_cell_that_runs_whatever_separates_them(texts):
    content = b"".join(write_csv([texts])).decode("utf-8-sig")
    assert next(csv.reader([content])) == [defuse(text) for text in texts]
    for delimiter in ",;\t":
        for row in read(content, delimiter):
            for cell in row:
                begin = unicodedata.normalize("NFKC", cell.strip(" \u200b"))[:1]
                assert begin not in {"=", "+", "-", "@", "\u2212"}
