"""The facts of a document: what its page shows, an approval is about, and issuing freezes.

Facts are JSON values: amounts are integers of the minor unit (strings only on the wire),
quantities and percentages decimal strings, dates ISO 8601.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import prefetch_related_objects

from invoicing.models import Company, Customer, Document, Line, TaxRate, TaxRow
from invoicing.models.documents import TOTALS
from invoicing.shown import LINE, TAX_ROW, TEXTS

# Nested dictionaries and lists, with the names that the wire has for the same.
Facts = dict[str, Any]

# What issuing freezes of each party, and how the document's columns for it begin.
FROZEN = {
    "seller": ("seller", ("name", "address", "vat_number", "iban", "bic")),
    "customer": ("buyer", ("name", "address", "vat_number")),
}


def read_facts(documents: Sequence[Document]) -> list[Facts]:
    """Return the facts of each document as of a draft: with the current rates and parties.

    Raises Company.DoesNotExist where there is no company yet.
    """
    seller = Company.objects.get()
    read_parts(documents)
    return [_facts(document, seller) for document in documents]


def read_parts(documents: Sequence[Document]) -> None:
    """Read customers, lines and tax rows where a document has them not yet, and all their rates.

    Each rate is read once, so that it cannot be two things in one answer.
    """
    prefetch_related_objects(documents, "customer", "lines", "tax_rows")
    parts = [part for document in documents for part in _parts_of(document) if part.tax_rate_id]
    rates = TaxRate.objects.in_bulk({part.tax_rate_id for part in parts})
    for part in parts:
        part.tax_rate = rates[part.tax_rate_id]


def _parts_of(document: Document) -> list[Line | TaxRow]:
    return [*document.lines.all(), *document.tax_rows.all()]


def _facts(document: Document, seller: Company) -> Facts:
    return {
        "status": document.status,
        "lock_version": document.lock_version,
        **parties_of(document, seller),
        "issue_date": document.issue_date.isoformat(),
        "due_date": document.due_date.isoformat(),
        "currency_code": document.currency_code,
        "minor_unit": document.minor_unit,
        **TEXTS.facts_of(document),
        "line_items": [LINE.facts_of(line) for line in document.lines.all()],
        "tax_breakdown": [_tax_row(row) for row in document.tax_rows.all()],
        **{name: getattr(document, name) for name in TOTALS},
    }


def parties_of(document: Document, seller: Company) -> Facts:
    """Return those facts that come from the seller and the customer, as they are now."""
    customer = document.customer
    return {
        "seller": {**_party(seller, document.language), "iban": seller.iban, "bic": seller.bic},
        "customer": {**_party(customer, document.language), "is_active": customer.is_active},
    }


def _party(party: Company | Customer, language: str) -> Facts:
    return {
        "id": str(party.id),
        "name": party.name,
        "address": party.format_address(language),
        "vat_number": party.vat_number,
    }


def _tax_row(row: TaxRow) -> Facts:
    """Return the row with the rate as it is now, so that a change of it counts as a difference."""
    rate = row.tax_rate
    now = {"name": rate.name, "percentage": rate.percentage, "is_active": rate.is_active}
    return TAX_ROW.facts_of(row) | now


def read_document(document: Document) -> Facts:
    """Return the document's facts: a draft as it stands, an issued one as it was frozen."""
    [facts] = read_facts([document])
    return {**facts, **_frozen(document)} if document.is_issued else facts


def _frozen(document: Document) -> Facts:
    parties = {
        party: {name: getattr(document, f"{prefix}_{name}") for name in names}
        for party, (prefix, names) in FROZEN.items()
    }
    rows = document.tax_rows.all()
    return {**parties, "tax_breakdown": [TAX_ROW.facts_of(row) for row in rows]}
