"""CSV that is safe to open in a spreadsheet, for all files that leave."""

import csv
import re
from collections.abc import Generator, Iterable
from datetime import date
from decimal import Decimal
from io import StringIO

Cell = str | int | Decimal | date | None
# A file on its way.
Chunks = Generator[bytes, None, None]

# Without it, Excel takes UTF-8 for the code page of its Windows.
BYTE_ORDER_MARK = "\N{BYTE ORDER MARK}"
CHUNK_LENGTH = 64 * 1024

# A spreadsheet runs a cell that begins with one of these, or with a form of it as wide as Chinese
# characters or small. One that takes semicolons or tabs for separators, as Excel does in much of
# Europe, sees a cell begin after these, and after a line break, even within quotes.
_SIGNS = "=+\\-@\N{MINUS SIGN}＝＋－＠﹦﹢﹣﹫"  # noqa: RUF001  what is looked for
_BREAKS = "\\t\\r\\n\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029"
_SKIPPED = f'(?![{_BREAKS}])\\s|["\\u200b-\\u200f\\u2060\\ufeff]'
_RUN = re.compile(f"\\A(?=[{_BREAKS}])|(?:\\A|(?<=[;{_BREAKS}]))(?=(?:{_SKIPPED})*[{_SIGNS}])")


def defuse(text: str) -> str:
    """Return the text with an apostrophe before whatever a spreadsheet would run."""
    return _RUN.sub("'", text)


def write_csv(rows: Iterable[Iterable[Cell]]) -> Chunks:
    """Yield a CSV file in chunks: UTF-8 with a byte order mark, commas, CRLF; texts are defused."""
    chunk = BYTE_ORDER_MARK.encode()
    for row in rows:
        chunk += write_row(row)
        if len(chunk) >= CHUNK_LENGTH:
            yield chunk
            chunk = b""
    yield chunk


def write_row(row: Iterable[Cell]) -> bytes:
    """Return one line of such a file."""
    line = StringIO(newline="")
    csv.writer(line).writerow([defuse(cell) if isinstance(cell, str) else cell for cell in row])
    return line.getvalue().encode()
