"""What a document says: a draft as things stand, an issued one as it was frozen."""

from invoicing.models import Document
from invoicing.services.approval_facts import Facts, read_facts
from invoicing.services.company import current_company
from invoicing.services.document_parts import parts_of


def read_document(document: Document) -> Facts:
    """Return the document's facts; amounts are integers of the minor unit."""
    [facts] = read_facts([document], seller=current_company())
    return facts | _frozen(document) if document.is_issued else facts


def _frozen(document: Document) -> Facts:
    return {
        "seller": {
            "name": document.seller_name,
            "address": document.seller_address,
            "vat_number": document.seller_vat_number,
            "iban": document.seller_iban,
            "bic": document.seller_bic,
        },
        "customer": {
            "name": document.buyer_name,
            "address": document.buyer_address,
            "vat_number": document.buyer_vat_number,
        },
        "tax_breakdown": [
            {
                "tax_rate_id": str(row.tax_rate_id),
                "name": row.name,
                "percentage": row.percentage,
                "taxable_amount": row.taxable_amount,
                "tax_amount": row.tax_amount,
            }
            for row in parts_of(document).tax_rows
        ],
    }
