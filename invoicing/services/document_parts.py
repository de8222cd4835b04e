"""Reads and writes the parts of documents: their lines and tax rows."""

from collections import defaultdict
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import prefetch_related_objects

from agent_access.database.rows import Condition, Search, find_together, insert_together
from invoicing.models import Document, Line, Parts, TaxRate, TaxRow
from invoicing.rows import DOCUMENTS, LINES, RATES, TAX_ROWS
from invoicing.services.search_words import compose_addition, rows_of_document

_Part = TypeVar("_Part", Line, TaxRow)


def parts_of(document: Document) -> Parts:
    """Return the lines and tax rows, read only if the document has them not yet."""
    read_parts([document])
    return document.parts


def read_parts(documents: Sequence[Document], *others: Search) -> list[list[Any]]:
    """Read the lines and tax rows of those documents that have them not yet.

    Their tax rates come along as they are now. The same statement makes the other searches, whose
    records this returns, so parts, rates and these are of one moment.
    """
    bare = [document for document in documents if "parts" not in vars(document)]
    if not bare:
        return find_together(*others)
    prefetch_related_objects(bare, "customer")
    pks = [document.pk for document in bare]
    of_lines = LINES, LINES.among("document_id", pks)
    of_tax_rows = TAX_ROWS, TAX_ROWS.among("document_id", pks)
    of_rates = RATES, _used_by(of_lines, of_tax_rows)
    lines, tax_rows, rates, *found = find_together(of_lines, of_tax_rows, of_rates, *others)
    _attach_rates([*lines, *tax_rows], rates)
    lines_of, tax_rows_of = _by_document(lines), _by_document(tax_rows)
    for document in bare:
        document.parts = Parts(lines_of[document.pk], tax_rows_of[document.pk])
    return found


def _used_by(*parts: Search) -> Condition:
    """Return the condition that a tax rate is that of one of these parts."""
    used = [
        f"SELECT tax_rate_id FROM {rows.table} AS record WHERE {condition}"  # noqa: S608  names only
        for rows, (condition, _) in parts
    ]
    values = [value for _, (_, each) in parts for value in each]
    return f"record.id IN ({' UNION '.join(used)})", values


def _attach_rates(parts: Sequence[Line | TaxRow], rates: Sequence[TaxRate]) -> None:
    by_id = {rate.pk: rate for rate in rates}
    for part in parts:
        if part.tax_rate_id:
            part.tax_rate = by_id[part.tax_rate_id]


def _by_document(parts: Sequence[_Part]) -> dict[UUID, list[_Part]]:
    grouped = defaultdict(list)
    for part in sorted(parts, key=attrgetter("position")):
        grouped[part.document_id].append(part)
    return grouped


def insert_document(document: Document, parts: Parts) -> None:
    """Save a new document with its parts and its rows in the word table; cache the parts on it."""
    found_by = compose_addition([*rows_of_document(document)])
    groups = (DOCUMENTS, [document]), (LINES, parts.lines), (TAX_ROWS, parts.tax_rows)
    insert_together(*groups, extra_statements={"words": found_by})
    document.parts = parts


def insert_parts(document: Document, parts: Parts) -> None:
    """Save the parts of a document that has none, and cache them on it, without their rates."""
    insert_together((LINES, parts.lines), (TAX_ROWS, parts.tax_rows))
    document.parts = parts
