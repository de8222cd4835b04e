"""The rows of a resolved draft: its document, lines and tax rows."""

from typing import Any

from invoicing.identifiers import new_id
from invoicing.models import Document, Line, Parts, TaxRow
from invoicing.rows import LINES, TAX_ROWS
from invoicing.services.draft_input import LineInput
from invoicing.services.draft_resolution import ResolvedDraft
from invoicing.totals import LineTotals, TaxTotal


def header_of(resolved: ResolvedDraft) -> dict[str, Any]:
    """Return the columns of the document that the draft decides, by name."""
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


def make_parts(document: Document, resolved: ResolvedDraft) -> Parts:
    """Return unsaved lines, and tax rows in the order in which lines first use their rates."""
    rows = zip(resolved.draft.line_items, resolved.totals.lines, strict=True)
    return Parts(
        [_line(document, position, *row) for position, row in enumerate(rows)],
        [_tax_row(document, *row) for row in enumerate(resolved.totals.tax_breakdown)],
    )


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


def _tax_row(document: Document, position: int, total: TaxTotal) -> TaxRow:
    return TAX_ROWS.make(
        {
            "id": new_id(),
            "document_id": document.id,
            "position": position,
            "tax_rate_id": total.rate.id,
            "name": total.rate.name,
            "percentage_ten_thousandths": total.rate.percentage,
            "taxable_amount": total.taxable_amount,
            "tax_amount": total.tax_amount,
        }
    )
