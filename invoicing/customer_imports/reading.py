"""Reads a CSV file of customers: its encoding and its separator are told from the file itself."""

import csv
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from io import StringIO
from typing import NamedTuple

from invoicing.customer_imports.columns import propose_fields
from invoicing.errors import InvoicingError

MEGABYTE = 1024 * 1024
MAX_BYTES = 20 * MEGABYTE
MAX_ROWS = 50_000
MAX_COLUMNS = 100
# Of one row; it may have line breaks within quotation marks.
MAX_CHARACTERS = 50_000

_SEPARATORS = ",;\t|"
_MARKS = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
# What has no mark. Latin-1 takes all that the others refuse.
_UNMARKED = ("utf-8", "cp1252", "latin-1")

TOO_LARGE = f"The file is larger than {MAX_BYTES // MEGABYTE} MB. Split it."
NO_TEXT = "This is not a text file. In your spreadsheet, save it as CSV (UTF-8) first."
NO_ROWS = "The file has no rows below its header."
TOO_MANY_ROWS = f"The file has more than {MAX_ROWS:,} rows. Split it."
TOO_MANY_COLUMNS = f"The file has more than {MAX_COLUMNS} columns."


class FileUnreadableError(InvoicingError):
    """The file is not read; the text says why, to the person who uploaded it."""


class Row(NamedTuple):
    """The cells of a row, and the number of its first line, from 1 on."""

    line: int
    cells: list[str]


class Table(NamedTuple):
    """A header, and the rows that are not empty; they may have fewer or more cells than it."""

    headers: list[str]
    rows: list[Row]


def read_table(content: bytes) -> Table:
    """Return the table in a file; raises FileUnreadableError."""
    if len(content) > MAX_BYTES:
        raise FileUnreadableError(TOO_LARGE)
    text = _decode(content)
    rows = _read_rows(text, _tell_separator(text))
    header = next(rows, None)
    if header is None:
        raise FileUnreadableError(NO_ROWS)
    if len(header.cells) > MAX_COLUMNS:
        raise FileUnreadableError(TOO_MANY_COLUMNS)
    table = Table([cell.strip() for cell in header.cells], [])
    for row in rows:
        if len(row.cells) > MAX_COLUMNS:
            raise FileUnreadableError(TOO_MANY_COLUMNS)
        if len(table.rows) == MAX_ROWS:
            raise FileUnreadableError(TOO_MANY_ROWS)
        table.rows.append(row)
    if not table.rows:
        raise FileUnreadableError(NO_ROWS)
    return table


def _decode(content: bytes) -> str:
    marked = [name for mark, name in _MARKS.items() if content.startswith(mark)]
    for encoding in marked or _UNMARKED:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
        break
    raise FileUnreadableError(NO_TEXT)


def _tell_separator(text: str) -> str:
    """Return the separator under which the header names the most fields, then the most columns."""

    def judge(separator: str) -> tuple[int, int]:
        try:
            header = next(_read_rows(text, separator)).cells
        except (FileUnreadableError, StopIteration):
            return 0, 0
        return len(list(filter(None, propose_fields(header)))), len(header)

    return max(_SEPARATORS, key=judge)


def _read_rows(text: str, separator: str) -> Iterator[Row]:
    """Yield the rows that are not empty; raises FileUnreadableError."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        first = lines.begin_row()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise FileUnreadableError(
                f"Line {first} cannot be read: a quotation mark is missing or misplaced, or a cell"
                " is far too long."
            ) from None
        if any(cell.strip() for cell in cells):
            yield Row(first, cells)


class _Lines:
    """The lines of a text, of one row no more than MAX_CHARACTERS."""

    def __init__(self, text: str) -> None:
        # With "", it keeps line ends as they are, as the csv module wants them.
        self._lines = StringIO(text, newline="")
        self._number = self._characters = 0

    def begin_row(self) -> int:
        """Return the number of the line that comes next."""
        self._characters = 0
        return self._number + 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._number += 1
        self._characters += len(line)
        if self._characters > MAX_CHARACTERS:
            raise FileUnreadableError(
                f"Line {self._number} is too long. Is a quotation mark missing before it?"
            )
        return line
