"""The index beside files of originals: what each is, and how it is known to be whole."""

from decimal import Decimal

from invoicing.exports.cells import Cell
from invoicing.models import Original, OriginalKind
from invoicing.originals.names import file_name_of

INDEX_NAME = "index.csv"
INDEX_COLUMNS = (
    *("Number", "Type", "Issue date", "Customer", "Kind", "File", "SHA-256", "Bytes"),
    *("Currency", "Net total", "Tax total", "Grand total"),
)


def index_row(original: Original, size: int) -> tuple[Cell, ...]:
    """Return the row of a file of so many bytes; the amounts of credit notes are negative."""
    document = original.document
    sign = -1 if document.is_credit_note else 1
    totals = (document.net_total, document.tax_total, document.grand_total)
    return (
        *(document.number, document.get_type_display(), document.issue_date, document.buyer_name),
        *(original.get_kind_display(), file_name_of(document, OriginalKind(original.kind))),
        *(original.digest, size, document.currency_code),
        *(Decimal(sign * total).scaleb(-document.minor_unit) for total in totals),
    )
