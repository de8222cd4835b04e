"""The reads that agents make most: each is one statement, and so of one moment (ADR 13)."""

from functools import cache
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from agent_access.database.rows import Rows
from invoicing.access import customer_condition
from invoicing.agent_tools import outputs
from invoicing.errors import RecordNotFoundError
from invoicing.models import Document, Line, TaxRow, User

SHOWN_DOCUMENTS = Rows(Document, only=outputs.DOCUMENT_COLUMNS)
SUMMARIES = Rows(Document, only=outputs.SUMMARY_COLUMNS)
# Without the columns that nobody needs within a document.
SHOWN_LINES = Rows(Line, without=("id", "document_id"))
SHOWN_TAX_ROWS = Rows(TaxRow, without=("id", "document_id"))

DOCUMENT = (
    "SELECT {columns}, {lines}, {tax_rows} FROM {table} AS document WHERE id = %s AND {scope}"
)
PAGE = "SELECT {columns} FROM {table} AS document WHERE {after} ORDER BY id LIMIT %s"
OF_DOCUMENT = "record.document_id = document.id"

Columns = dict[str, Any]


def read_document(user: User, pk: UUID) -> tuple[Columns, list[Columns], list[Columns]]:
    """Return a document, its lines and its tax rows; raises RecordNotFoundError, also if hidden."""
    scope, values = customer_condition(user, "document.customer_id")
    with connection.cursor() as cursor:
        cursor.execute(_document_statement(scope), [SHOWN_DOCUMENTS.adapt("id", pk), *values])
        row = cursor.fetchone()
    if row is None:
        raise RecordNotFoundError
    *header, lines, tax_rows = row
    return SHOWN_DOCUMENTS.read_columns(header), _read_parts(lines), _read_parts(tax_rows)


def read_page(*, after: UUID | None, limit: int) -> tuple[list[Columns], UUID | None]:
    """Return up to `limit` documents in order of ID, and the cursor of the next page or None.

    It checks no scope, so it is only for those who may see all customers.
    """
    beginning = [] if after is None else [SUMMARIES.adapt("id", after)]
    with connection.cursor() as cursor:
        cursor.execute(_page_statement(is_first=after is None), [*beginning, limit + 1])
        rows = [SUMMARIES.read_columns(row) for row in cursor.fetchall()]
    return rows[:limit], rows[limit - 1]["id"] if len(rows) > limit else None


def _read_parts(parts: str | None) -> list[Columns]:
    """Return lines or tax rows in order of position, with IDs as text.

    For no rows, PostgreSQL returns null instead of an array.
    """
    rows: list[Columns] = orjson.loads(parts or "[]")
    for row in rows:
        rate_id = row["tax_rate_id"]
        if rate_id and "-" not in rate_id:  # as SQLite keeps it
            row["tax_rate_id"] = str(UUID(rate_id))
    return sorted(rows, key=itemgetter("position"))


@cache
def _document_statement(scope: str) -> str:
    return DOCUMENT.format(
        columns=SHOWN_DOCUMENTS.select("document"),
        lines=SHOWN_LINES.as_json(OF_DOCUMENT),
        tax_rows=SHOWN_TAX_ROWS.as_json(OF_DOCUMENT),
        table=SHOWN_DOCUMENTS.table,
        scope=scope,
    )


@cache
def _page_statement(*, is_first: bool) -> str:
    return PAGE.format(
        columns=SUMMARIES.select("document"),
        table=SUMMARIES.table,
        after="TRUE" if is_first else "id > %s",
    )
