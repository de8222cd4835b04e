"""Reads a CSV file of customers: its encoding and its separator are told from the file itself."""

import csv
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from functools import partial
from io import BytesIO, TextIOWrapper
from typing import NamedTuple, TextIO

from django.utils.translation import gettext_noop

from agent_access.translations import SentenceError
from invoicing.customer_imports.columns import propose_fields
from invoicing.errors import InvoicingError

MEGABYTE = 1024 * 1024
MAX_BYTES = 20 * MEGABYTE
MAX_ROWS = 50_000
MAX_COLUMNS = 100
# A spreadsheet has at most 1,048,576, and some save them all, however many are empty.
MAX_LINES = 1_500_000
# Of one row; it may have line breaks within quotation marks.
MAX_CHARACTERS = 50_000

_SEPARATORS = ",;\t|"
_MARKS = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}
# What has no mark. Latin-1 takes all that the others refuse.
_UNMARKED = ("utf-8", "cp1252", "latin-1")

TOO_LARGE = gettext_noop("The file is larger than %(megabytes)s MB. Split it.")
NO_TEXT = gettext_noop(
    "This is not a text file. In your spreadsheet, save it as CSV (UTF-8) first."
)
NO_ROWS = gettext_noop("The file has no rows below its header.")
TOO_MANY_ROWS = gettext_noop("The file has more than %(rows)s rows. Split it.")
TOO_MANY_LINES = gettext_noop(
    "The file has more than %(lines)s lines. Delete those that are empty."
)
TOO_MANY_COLUMNS = gettext_noop("The file has more than %(columns)s columns.")


class FileUnreadableError(SentenceError, InvoicingError):
    """The file is not read; the sentence says why, to the person who uploaded it."""


class Row(NamedTuple):
    """The cells of a row, and the number of its first line, from 1 on."""

    line: int
    cells: list[str]


class Table(NamedTuple):
    """A header, and the rows that are not empty; they may have fewer or more cells than it.

    The rows are read while they are iterated over, which raises FileUnreadableError.
    """

    headers: list[str]
    rows: Iterator[Row]


def read_table(content: bytes) -> Table:
    """Return the table in a file; raises FileUnreadableError."""
    if len(content) > MAX_BYTES:
        raise FileUnreadableError(TOO_LARGE, megabytes=MAX_BYTES // MEGABYTE)
    encoding = _tell_encoding(content)
    rows = _read_rows(content, encoding, _tell_separator(content, encoding))
    header = next(rows, None)
    if header is None:
        raise FileUnreadableError(NO_ROWS)
    _require_columns(header)
    return Table([cell.strip() for cell in header.cells], _require_rows(rows))


def find_examples(table: Table) -> list[str]:
    """Return the first text in each column, "" for an empty one."""
    found = [""] * len(table.headers)
    for row in table.rows:
        for place, cell in enumerate(row.cells[: len(found)]):
            found[place] = found[place] or cell.strip()
        if all(found):
            break
    return found


def _tell_encoding(content: bytes) -> str:
    marked = [name for mark, name in _MARKS.items() if content.startswith(mark)]
    for encoding in marked or _UNMARKED:
        text = _open_text(content, encoding)
        try:
            has_nul = any("\0" in part for part in iter(partial(text.read, MAX_CHARACTERS), ""))
        except UnicodeDecodeError:
            continue
        if not has_nul:
            return encoding
        break
    raise FileUnreadableError(NO_TEXT)


def _open_text(content: bytes, encoding: str) -> TextIO:
    # With "", it keeps line ends as they are, as the csv module wants them.
    return TextIOWrapper(BytesIO(content), encoding, newline="")


def _tell_separator(content: bytes, encoding: str) -> str:
    """Return the separator under which the header names the most fields, then the most columns."""

    def judge(separator: str) -> tuple[int, int]:
        try:
            header = next(_read_rows(content, encoding, separator)).cells
        except (FileUnreadableError, StopIteration):
            return 0, 0
        return len(list(filter(None, propose_fields(header)))), len(header)

    return max(_SEPARATORS, key=judge)


def _require_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows of which there may be so many; raises FileUnreadableError."""
    count = 0
    for count, row in enumerate(rows, 1):
        if count > MAX_ROWS:
            raise FileUnreadableError(TOO_MANY_ROWS, rows=f"{MAX_ROWS:,}")
        _require_columns(row)
        yield row
    if not count:
        raise FileUnreadableError(NO_ROWS)


def _require_columns(row: Row) -> None:
    if len(row.cells) > MAX_COLUMNS:
        raise FileUnreadableError(TOO_MANY_COLUMNS, columns=MAX_COLUMNS)


def _read_rows(content: bytes, encoding: str, separator: str) -> Iterator[Row]:
    """Yield the rows that are not empty; raises FileUnreadableError."""
    lines = _Lines(_open_text(content, encoding))
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        first = lines.begin_row()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise FileUnreadableError(
                gettext_noop(
                    "Line %(line)s cannot be read: a quotation mark is missing or misplaced, or a"
                    " cell is far too long."
                ),
                line=first,
            ) from None
        if any(cell.strip() for cell in cells):
            yield Row(first, cells)


class _Lines:
    """At most MAX_LINES lines of a text, of one row no more than MAX_CHARACTERS."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._number = self._characters = 0

    def begin_row(self) -> int:
        """Return the number of the line that comes next."""
        self._characters = 0
        return self._number + 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        # Where files were put together, each may begin with a mark.
        line = self._text.readline(MAX_CHARACTERS + 1).removeprefix("\ufeff")
        if not line:
            raise StopIteration
        self._number += 1
        if self._number > MAX_LINES:
            raise FileUnreadableError(TOO_MANY_LINES, lines=f"{MAX_LINES:,}")
        self._characters += len(line)
        if self._characters > MAX_CHARACTERS:
            raise FileUnreadableError(
                gettext_noop("Line %(line)s is too long. Is a quotation mark missing before it?"),
                line=self._number,
            )
        return line
