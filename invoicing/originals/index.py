"""The index beside files of originals, as CSV: what each is, and how it is known to be whole."""

from decimal import Decimal

from agent_access.translations import as_written
from invoicing.exports.cells import BYTE_ORDER_MARK, write_row
from invoicing.exports.tables import customer_number_of
from invoicing.models import DocumentType
from invoicing.originals.periods import Found

INDEX_NAME = "index.csv"
INDEX_HEAD = BYTE_ORDER_MARK.encode() + write_row(
    (
        *("Number", "Type", "Issue date", "Customer number", "Customer"),
        *("Currency", "Net total", "Tax total", "Grand total"),
        *("Kind", "File", "SHA-256", "Bytes", "Why it is missing"),
    )
)


def index_row(found: Found, size: int) -> bytes:
    """Return the row of a file of so many bytes, or of one that is missing.

    The amounts of credit notes are negative, as in the tables.
    """
    document, original = found.document, found.original
    sign = -1 if document.is_credit_note else 1
    totals = (document.net_total, document.tax_total, document.grand_total)
    of_file = (found.file_name, original.digest, size) if original else (None, None, None)
    return write_row(
        (
            *(document.number, as_written(DocumentType(document.type).label), document.issue_date),
            *(customer_number_of(document), document.buyer_name, document.currency_code),
            *(Decimal(sign * total).scaleb(-document.minor_unit) for total in totals),
            *(found.kind.label, *of_file, found.failure),
        )
    )
