"""The reads that agents make most: each one statement, and so of one moment (ADR 13)."""

from functools import cache
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from agent_access.database.selected import Selected
from invoicing.access import Permission
from invoicing.agent_tools.outputs import DOCUMENT_COLUMNS, SUMMARY_COLUMNS
from invoicing.draft_fields import COLUMNS
from invoicing.errors import RecordNotFoundError
from invoicing.models import Customer, Document, Line, TaxRow, User
from invoicing.shown import LINE, TAX_ROW, Shown

# By vendor: the functions that make a JSON array of rows, and a JSON object of one row.
JSON_FUNCTIONS = {
    "postgresql": ("json_agg", "json_build_object"),
    "sqlite": ("json_group_array", "json_object"),
}
DOCUMENT = (
    "SELECT {columns}, {lines}, {tax_rows} FROM {table} AS document WHERE id = %s AND {scope}"
)
# For no rows, PostgreSQL returns null instead of an array.
PARTS = (
    "(SELECT CAST({many}({one}({members})) AS text) FROM {table} WHERE document_id = document.id)"
)
MANAGED = "customer_id IN (SELECT customer_id FROM {table} WHERE user_id = %s)"
PAGE = "SELECT {columns} FROM {table} AS document WHERE id > %s ORDER BY id LIMIT %s"
BEFORE_ALL = UUID(int=0)

DOCUMENTS = Selected(Document, DOCUMENT_COLUMNS)
SUMMARIES = Selected(Document, SUMMARY_COLUMNS)

Values = dict[str, Any]


def read_document(user: User, pk: UUID) -> tuple[Values, list[Values], list[Values]]:
    """Return a document, its lines and its tax rows; raises RecordNotFoundError, also if hidden."""
    sees_all = user.has_perm(Permission.VIEW_ALL_CUSTOMERS)
    wanted = [pk] if sees_all else [pk, user.pk]
    with connection.cursor() as cursor:
        statement = _statement(connection.vendor, sees_all=sees_all)
        cursor.execute(statement, [DOCUMENTS.adapt("id", each) for each in wanted])
        row = cursor.fetchone()
    if row is None:
        raise RecordNotFoundError
    *document, lines, tax_rows = row
    return DOCUMENTS.values(document), _read_parts(lines), _read_parts(tax_rows)


def read_page(*, after: UUID | None, limit: int) -> tuple[list[Values], UUID | None]:
    """Return up to `limit` of all documents, in order of ID, and the next cursor or None."""
    statement = PAGE.format(columns=SUMMARIES.columns("document"), table=SUMMARIES.table)
    with connection.cursor() as cursor:
        cursor.execute(statement, [SUMMARIES.adapt("id", after or BEFORE_ALL), limit + 1])
        found = [SUMMARIES.values(row) for row in cursor.fetchall()]
    return found[:limit], found[limit - 1]["id"] if len(found) > limit else None


def _read_parts(parts: str | None) -> list[Values]:
    """Return lines or tax rows in order of position, with IDs as text."""
    rows: list[Values] = orjson.loads(parts or "[]")
    for row in rows:
        rate_id = row["tax_rate_id"]
        if rate_id and "-" not in rate_id:  # as SQLite keeps it
            row["tax_rate_id"] = str(UUID(rate_id))
    return sorted(rows, key=itemgetter("position"))


@cache
def _statement(vendor: str, *, sees_all: bool) -> str:
    managed = MANAGED.format(table=Customer.account_managers.through._meta.db_table)
    return DOCUMENT.format(
        columns=DOCUMENTS.columns("document"),
        lines=_parts(vendor, LINE, Line),
        tax_rows=_parts(vendor, TAX_ROW, TaxRow),
        table=DOCUMENTS.table,
        scope="TRUE" if sees_all else managed,
    )


def _parts(vendor: str, shown: Shown, model: type[Line | TaxRow]) -> str:
    many, one = JSON_FUNCTIONS[vendor]
    columns = {name: COLUMNS.get(name, name) for name in (*shown.names, "position")}
    members = ", ".join(f"'{name}', {column}" for name, column in columns.items())
    return PARTS.format(many=many, one=one, members=members, table=model._meta.db_table)
