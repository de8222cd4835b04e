"""The lines and tax rows of a document: read with their rates, written together."""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from django.db import connection
from django.db.models import Manager, Model, Prefetch, prefetch_related_objects

from invoicing.models import Document, Line, TaxRow

_Part = TypeVar("_Part", bound=Model)


def read_parts(documents: Sequence[Document]) -> None:
    """Read the lines and tax rows, with the rates as they are now, where they are not at hand.

    Each rate is read once, with its tax row, so that a line cannot have it as it was before.
    """
    tax_rows = Prefetch("tax_rows", TaxRow.objects.select_related("tax_rate"))
    prefetch_related_objects(documents, "customer", "lines", tax_rows)
    for document in documents:
        rates = {row.tax_rate_id: row.tax_rate for row in document.tax_rows.all()}
        for line in document.lines.all():
            if line.tax_rate_id in rates:
                line.tax_rate = rates[line.tax_rate_id]


def insert_parts(document: Document, lines: list[Line], tax_rows: list[TaxRow]) -> None:
    """Save the parts of a document that has none, and keep them with it as if they were read."""
    _insert(Line.objects, lines)
    _insert(TaxRow.objects, tax_rows)
    _keep(document, "lines", lines)
    _keep(document, "tax_rows", tax_rows)


def _keep(document: Document, name: str, parts: Sequence[Model]) -> None:
    """Do what prefetch_related does, without reading what was just written."""
    manager: Manager[Model] = getattr(document, name)
    read = manager.all()
    read._result_cache = list(parts)  # noqa: SLF001  as prefetch_related keeps it
    kept = vars(document).setdefault("_prefetched_objects_cache", {})
    kept[name] = read


def _insert(manager: Manager[_Part], parts: Sequence[_Part]) -> None:
    """Insert all parts in one statement, of which PostgreSQL gets a list for each column.

    A hundred lines of thirteen values each cost Django more than all else in a draft.
    """
    if connection.vendor != "postgresql" or not parts:
        manager.bulk_create(parts)
        return
    names = [field.attname for field in manager.model._meta.concrete_fields]
    columns = [[getattr(part, name) for part in parts] for name in names]
    with connection.cursor() as cursor:
        cursor.execute(_insertion(manager.model), columns)


@cache
def _insertion(model: type[Model]) -> str:
    fields = model._meta.concrete_fields
    names = ", ".join(str(field.column) for field in fields)
    # Without the length: a cast would cut what is too long, where the column refuses it.
    kinds = [str(field.db_type(connection)).partition("(")[0] for field in fields]
    values = ", ".join(f"%s::{kind}[]" for kind in kinds)
    return f"INSERT INTO {model._meta.db_table} ({names}) SELECT * FROM unnest({values})"  # noqa: S608  names only
