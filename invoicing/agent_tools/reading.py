"""The read that agents make most: one statement, and so of one moment (ADR 13)."""

from functools import cache
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from invoicing.access import Permission
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
    "SELECT document.*, {lines}, {tax_rows} FROM {table} AS document WHERE id = %s AND {scope}"
)
# For no rows, PostgreSQL returns null instead of an array.
PARTS = (
    "(SELECT CAST({many}({one}({members})) AS text) FROM {table} WHERE document_id = document.id)"
)
MANAGED = "customer_id IN (SELECT customer_id FROM {table} WHERE user_id = %s)"

Values = dict[str, Any]


def read_document(user: User, pk: UUID) -> tuple[Document, list[Values], list[Values]]:
    """Return a document, its lines and its tax rows; raises RecordNotFoundError, also if hidden."""
    sees_all = user.has_perm(Permission.VIEW_ALL_CUSTOMERS)
    wanted = [pk] if sees_all else [pk, user.pk]
    adapt = Document._meta.pk.get_db_prep_value
    statement = _statement(connection.vendor, sees_all=sees_all)
    found: Any = Document.objects.raw(statement, [adapt(each, connection) for each in wanted])
    for document in found:
        return document, _read_parts(document.lines_json), _read_parts(document.tax_rows_json)
    raise RecordNotFoundError


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
        lines=f"{_parts(vendor, LINE, Line)} AS lines_json",
        tax_rows=f"{_parts(vendor, TAX_ROW, TaxRow)} AS tax_rows_json",
        table=Document._meta.db_table,
        scope="TRUE" if sees_all else managed,
    )


def _parts(vendor: str, shown: Shown, model: type[Line | TaxRow]) -> str:
    many, one = JSON_FUNCTIONS[vendor]
    columns = {name: COLUMNS.get(name, name) for name in (*shown.names, "position")}
    members = ", ".join(f"'{name}', {column}" for name, column in columns.items())
    return PARTS.format(many=many, one=one, members=members, table=model._meta.db_table)
