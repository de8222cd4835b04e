"""Issued documents and their lines as tables, from what was frozen.

The amounts and quantities of credit notes are negative, so that columns add up.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from uuid import UUID

from agent_access.translations import as_written
from invoicing.draft_fields import DRAFT_TEXTS, LINE_TEXTS
from invoicing.exports.cells import Cell, Chunks, write_csv
from invoicing.exports.selection import Read
from invoicing.fixed_point import DECIMALS, format_fixed_point
from invoicing.models import Document, DocumentType
from invoicing.money import RATE_DECIMALS


def _heads(names: Iterable[str]) -> Iterator[str]:
    """Yield the heads of columns of texts that may be left out, whichever there are."""
    return (name.replace("_", " ").capitalize() for name in names)


DOCUMENT_COLUMNS = (
    *("Number", "Type", "Issue date", "Due date", "Supply date", "Supply end date"),
    *("Customer number", "Customer", "Country", "VAT number", "Buyer reference"),
    *("Currency", "Net total", "Tax total", "Grand total"),
    *("Exchange rate", "Base of the rate", "Date of the rate", "Tax currency", "Tax in it"),
    *("Corrects", "Reason", "Issued at (UTC)", *_heads(DRAFT_TEXTS)),
)
LINE_COLUMNS = (
    *("Number", "Type", "Issue date", "Customer number", "Customer", "Currency", "Line"),
    *("Description", "Quantity", "Unit price", "Discount", "Net amount"),
    *("Tax rate", "Percentage", "Category", *_heads(LINE_TEXTS)),
)


def write_documents(read: Read) -> Chunks:
    """Yield a CSV file with a row for each document."""
    return write_csv(_document_rows(read))


def write_lines(read: Read) -> Chunks:
    """Yield a CSV file with a row for each line of the documents."""
    return write_csv(_line_rows(read))


def customer_number_of(document: Document) -> str:
    """Return the customer's number as it was frozen; where none was, the present one."""
    frozen = (document.buyer_parts or {}).get("customer_number", "")
    return str(frozen or document.customer.customer_number)


def _document_rows(read: Read) -> Iterator[tuple[Cell, ...]]:
    yield DOCUMENT_COLUMNS
    for each in read(Document.objects.select_related("customer", "corrects")):
        sign, decimals = _sign(each), each.minor_unit
        totals = (each.net_total, each.tax_total, each.grand_total)
        national = each.national_tax_total
        yield (
            *(
                each.number,
                as_written(DocumentType(each.type).label),
                each.issue_date,
                each.due_date,
            ),
            *(each.supply_date, each.supply_end_date, customer_number_of(each), each.buyer_name),
            *((each.buyer_parts or {}).get("country"), each.buyer_vat_number),
            *(each.buyer_reference, each.currency_code),
            *(_amount(sign * total, decimals) for total in totals),
            _short(each.exchange_rate_millionths, RATE_DECIMALS),
            *(each.exchange_rate_base, each.exchange_rate_date, each.national_currency),
            None if national is None else _amount(sign * national, each.national_minor_unit or 0),
            *(each.corrects.number if each.corrects else None, each.correction_reason),
            each.issued_at and f"{each.issued_at:%Y-%m-%d %H:%M:%S}",
            *(getattr(each, name) for name in DRAFT_TEXTS),
        )


def _line_rows(read: Read) -> Iterator[tuple[Cell, ...]]:
    yield LINE_COLUMNS
    customers = Document.objects.select_related("customer")
    for each in read(customers.prefetch_related("lines", "tax_rows")):
        sign, decimals = _sign(each), each.minor_unit
        head = (each.number, as_written(DocumentType(each.type).label), each.issue_date)
        buyer = (customer_number_of(each), each.buyer_name, each.currency_code)
        taxes: dict[UUID | None, tuple[Cell, ...]] = {
            row.tax_rate_id: (row.name, _short(row.percentage_ten_thousandths), row.category)
            for row in each.tax_rows.all()
        }
        for line in each.lines.all():
            yield (
                *(*head, *buyer, line.position + 1, line.description),
                _short(sign * line.quantity_ten_thousandths),
                _amount(line.unit_price, decimals),
                _amount(sign * line.discount_amount, decimals),
                _amount(sign * line.net_amount, decimals),
                *taxes.get(line.tax_rate_id, (None, None, each.untaxed_category)),
                *(getattr(line, name) for name in LINE_TEXTS),
            )


def _sign(document: Document) -> int:
    return -1 if document.is_credit_note else 1


def _amount(amount: int, decimals: int) -> Decimal:
    return Decimal(amount).scaleb(-decimals)


def _short(value: int | None, decimals: int = DECIMALS) -> Decimal | None:
    """Return a number of so many decimals without the zeros at its end."""
    return None if value is None else Decimal(format_fixed_point(value, decimals=decimals))
