"""Reads and writes the parts of documents: their lines and tax rows."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from django.db.models import prefetch_related_objects

from agent_access.database.rows import insert_together
from invoicing.models import Document, Line, Parts, TaxRow
from invoicing.rows import DOCUMENTS, LINES, RATES, TAX_ROWS
from invoicing.services.search_words import compose_addition, rows_of_document

_Part = TypeVar("_Part", Line, TaxRow)


def parts_of(document: Document) -> Parts:
    """Return the lines and tax rows, read only if the document has them not yet."""
    read_parts([document])
    return document.parts


def read_parts(documents: Sequence[Document]) -> None:
    """Read the lines and tax rows of those documents that have them not yet.

    Their tax rates come along as they are now; each is read once, so that a line and its tax row
    cannot disagree.
    """
    bare = [document for document in documents if "parts" not in vars(document)]
    if not bare:
        return
    prefetch_related_objects(bare, "customer")
    pks = [document.pk for document in bare]
    in_order = "ORDER BY record.position"
    lines = LINES.find(LINES.among("document_id", pks), suffix=in_order)
    tax_rows = TAX_ROWS.find(TAX_ROWS.among("document_id", pks), suffix=in_order)
    _attach_rates([*lines, *tax_rows])
    lines_of, tax_rows_of = _by_document(lines), _by_document(tax_rows)
    for document in bare:
        document.parts = Parts(lines_of[document.pk], tax_rows_of[document.pk])


def _attach_rates(parts: Sequence[Line | TaxRow]) -> None:
    pks = {part.tax_rate_id for part in parts if part.tax_rate_id}
    rates = {rate.pk: rate for rate in RATES.find(RATES.among("id", pks))} if pks else {}
    for part in parts:
        if part.tax_rate_id:
            part.tax_rate = rates[part.tax_rate_id]


def _by_document(parts: Sequence[_Part]) -> dict[UUID, list[_Part]]:
    grouped = defaultdict(list)
    for part in parts:
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
