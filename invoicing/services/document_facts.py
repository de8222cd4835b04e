"""The facts of a document: what its page shows, an approval is about, and issuing freezes.

Facts are JSON values: amounts are integers of the minor unit (strings only on the wire),
quantities and percentages decimal strings, dates ISO 8601.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, NotRequired, TypedDict

from agent_access.database.rows import EVERY
from invoicing.models import Company, Customer, Document, Line, TaxRow
from invoicing.rows import COMPANIES
from invoicing.services.document_parts import parts_of, read_parts


class PartyFacts(TypedDict):
    """The seller or the customer; an issued document keeps no ID of it."""

    id: NotRequired[str]
    name: str
    address: str
    vat_number: str


class SellerFacts(PartyFacts):
    """The company; approvals prepared before documents had bank details lack those."""

    iban: NotRequired[str]
    bic: NotRequired[str]


class CustomerFacts(PartyFacts):
    """The customer; a draft's facts also tell whether it is active."""

    is_active: NotRequired[bool]


class LineFacts(TypedDict):
    """One line; `discount_value` is the amount, or the percentage in basis points."""

    description: str
    quantity: str
    unit: str
    unit_price: int
    discount_type: str | None
    discount_value: int | None
    tax_rate_id: str | None
    discount_amount: int
    net_amount: int


class TaxRowFacts(TypedDict):
    """The tax on all lines of one rate; a draft's facts also tell whether it is active."""

    tax_rate_id: str
    name: str
    percentage: str
    taxable_amount: int
    tax_amount: int
    is_active: NotRequired[bool]


class Parties(TypedDict):
    """Who invoices whom."""

    seller: SellerFacts
    customer: CustomerFacts


class FrozenFacts(Parties):
    """The facts of which an issued document has a copy of its own."""

    tax_breakdown: list[TaxRowFacts]


class Facts(FrozenFacts):
    """All facts of a document; `status` and `language` are its codes."""

    status: str
    lock_version: int
    issue_date: str
    due_date: str
    currency_code: str
    minor_unit: int
    language: str
    notes: str
    reference: str
    line_items: list[LineFacts]
    net_total: int
    discount_total: int
    tax_total: int
    grand_total: int


def read_facts(documents: Sequence[Document]) -> list[Facts]:
    """Return the facts of each document as of a draft: with the current rates and parties.

    Raises Company.DoesNotExist where there is no company yet.
    """
    [companies] = read_parts(documents, (COMPANIES, EVERY))
    if not companies:
        raise Company.DoesNotExist
    [seller] = companies
    return [_facts(document, seller) for document in documents]


def _facts(document: Document, seller: Company) -> Facts:
    lines, tax_rows = parts_of(document)
    return {
        "status": document.status,
        "lock_version": document.lock_version,
        **parties_of(document, seller),
        "issue_date": document.issue_date.isoformat(),
        "due_date": document.due_date.isoformat(),
        "currency_code": document.currency_code,
        "minor_unit": document.minor_unit,
        "language": document.language,
        "notes": document.notes,
        "reference": document.reference,
        "line_items": [_line(line) for line in lines],
        "tax_breakdown": [_tax_row(row) for row in tax_rows],
        "net_total": document.net_total,
        "discount_total": document.discount_total,
        "tax_total": document.tax_total,
        "grand_total": document.grand_total,
    }


def parties_of(document: Document, seller: Company) -> Parties:
    """Return those facts that come from the seller and the customer, as they are now."""
    customer = document.customer
    return {
        "seller": {
            **_party(seller, document.language),
            "iban": seller.iban,
            "bic": seller.bic,
        },
        "customer": {**_party(customer, document.language), "is_active": customer.is_active},
    }


def _party(party: Company | Customer, language: str) -> PartyFacts:
    return {
        "id": str(party.id),
        "name": party.name,
        "address": party.format_address(language),
        "vat_number": party.vat_number,
    }


def _line(line: Line) -> LineFacts:
    return {
        "description": line.description,
        "quantity": line.quantity,
        "unit": line.unit,
        "unit_price": line.unit_price,
        "discount_type": line.discount_type,
        "discount_value": line.discount_value,
        "tax_rate_id": str(line.tax_rate_id) if line.tax_rate_id else None,
        "discount_amount": line.discount_amount,
        "net_amount": line.net_amount,
    }


def _tax_row(row: TaxRow) -> TaxRowFacts:
    return {
        "tax_rate_id": str(row.tax_rate_id),
        # The rate as it is now, so that a change of it counts as a difference.
        "name": row.tax_rate.name,
        "percentage": row.tax_rate.percentage,
        "taxable_amount": row.taxable_amount,
        "tax_amount": row.tax_amount,
        "is_active": row.tax_rate.is_active,
    }


def read_document(document: Document) -> Facts:
    """Return the document's facts: a draft as it stands, an issued one as it was frozen."""
    [facts] = read_facts([document])
    return {**facts, **_frozen(document)} if document.is_issued else facts


def _frozen(document: Document) -> FrozenFacts:
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


def canonical_json(facts: Facts) -> str:
    """Return the facts as canonical JSON: sorted keys, no white space."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint_of(canonical: str) -> str:
    """Return the SHA-256 of canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical.encode()).hexdigest()


def fingerprint_facts(facts: Facts) -> str:
    """Return the fingerprint of facts, and so of all that issuing would freeze."""
    return fingerprint_of(canonical_json(facts))


def find_differences(prepared: Any, current: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted paths that differ, such as `line_items.0.unit_price`, in their order."""
    if prepared == current:
        return
    if isinstance(prepared, dict) and isinstance(current, dict):
        for key in dict.fromkeys((*current, *prepared)):
            yield from find_differences(prepared.get(key), current.get(key), f"{path}.{key}")
    elif isinstance(prepared, list) and isinstance(current, list):
        for index in range(max(len(prepared), len(current))):
            before = prepared[index] if index < len(prepared) else None
            after = current[index] if index < len(current) else None
            yield from find_differences(before, after, f"{path}.{index}")
    else:
        yield path.removeprefix(".")
