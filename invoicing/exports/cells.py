"""CSV that is safe to open in a spreadsheet, for all files that leave."""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from io import StringIO

Cell = str | int | Decimal | date | None

# Without it, Excel takes UTF-8 for the code page of its Windows.
BYTE_ORDER_MARK = "\N{BYTE ORDER MARK}"
CHUNK_LENGTH = 64 * 1024

# A spreadsheet runs a cell that begins with one of these, or with a form of it as wide as Chinese
# characters or small. One that takes semicolons or tabs for separators, as Excel does in much of
# Europe, sees a cell begin after these, and after a line break, even within quotes.
_SIGNS = "=+\\-@\N{MINUS SIGN}＝＋－＠﹦﹢﹣﹫"  # noqa: RUF001  what is looked for
_SKIPPED = '[^\\S\\r\\n\\t]|["\\u200b-\\u200f\\u2060\\ufeff]'
_RUN = re.compile(f"\\A(?=[\\t\\r\\n])|(?:\\A|(?<=[;\\t\\r\\n]))(?=(?:{_SKIPPED})*[{_SIGNS}])")


def defuse(text: str) -> str:
    """Return the text with an apostrophe before whatever a spreadsheet would run."""
    return _RUN.sub("'", text)


def write_csv(rows: Iterable[Iterable[Cell]]) -> Iterator[bytes]:
    """Yield a CSV file in chunks: UTF-8 with a byte order mark, commas, CRLF; texts are defused."""
    buffer = StringIO(BYTE_ORDER_MARK, newline="")
    buffer.seek(0, 2)
    writer = csv.writer(buffer)
    for row in rows:
        writer.writerow([defuse(cell) if isinstance(cell, str) else cell for cell in row])
        if buffer.tell() >= CHUNK_LENGTH:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()
