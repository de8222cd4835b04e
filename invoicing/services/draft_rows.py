"""The rows that a draft is written as, once everything about it is known."""

from typing import Any

from invoicing.identifiers import new_id
from invoicing.models import Document, Line, TaxRow
from invoicing.services.document_parts import LINES, TAX_ROWS
from invoicing.services.draft_input import LineInput
from invoicing.services.draft_resolution import ResolvedDraft
from invoicing.totals import LineTotals, Totals


def header_of(resolved: ResolvedDraft) -> dict[str, Any]:
    """Return every column that follows from the draft itself."""
    draft, totals = resolved.draft, resolved.totals
    return {
        "customer": resolved.customer,
        "issue_date": draft.issue_date,
        "due_date": draft.due_date,
        "currency_code": draft.currency_code,
        "minor_unit": resolved.minor_unit,
        "language": resolved.language,
        "notes": draft.notes,
        "reference": draft.reference,
        "net_total": totals.net_total,
        "discount_total": totals.discount_total,
        "tax_total": totals.tax_total,
        "grand_total": totals.grand_total,
    }


def lines_of(document: Document, resolved: ResolvedDraft) -> list[Line]:
    """Return the lines in their order."""
    rows = zip(resolved.draft.line_items, resolved.totals.lines, strict=True)
    return [_line(document, position, *row) for position, row in enumerate(rows)]


def _line(document: Document, position: int, item: LineInput, totals: LineTotals) -> Line:
    return LINES.make(
        {
            "id": new_id(),
            "document_id": document.id,
            "position": position,
            "description": item.description,
            "quantity_ten_thousandths": item.quantity,
            "unit": item.unit,
            "unit_price": item.unit_price,
            "discount_type": item.discount_type,
            "discount_value": item.discount_value,
            "tax_rate_id": item.tax_rate_id,
            "discount_amount": totals.discount_amount,
            "net_amount": totals.net_amount,
        }
    )


def tax_rows_of(document: Document, totals: Totals) -> list[TaxRow]:
    """Return one row for each rate, in the order in which lines first use it."""
    return [
        TAX_ROWS.make(
            {
                "id": new_id(),
                "document_id": document.id,
                "position": position,
                "tax_rate_id": row.rate.id,
                "name": row.rate.name,
                "percentage_ten_thousandths": row.rate.percentage,
                "taxable_amount": row.taxable_amount,
                "tax_amount": row.tax_amount,
            }
        )
        for position, row in enumerate(totals.tax_breakdown)
    ]
