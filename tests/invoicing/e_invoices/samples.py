"""Issued documents with the facts that were frozen, made without a database."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from invoicing.fixed_point import format_fixed_point, parse_fixed_point
from invoicing.models import Document, DocumentStatus, DocumentType
from invoicing.services.document_facts import Facts
from invoicing.totals import DiscountType, LineAmounts, TaxFacts, calculate_totals

SELLER_PARTS = {
    "street": "Harbour Street 1",
    "postcode": "20457",
    "city": "Hamburg",
    "country": "DE",
    "tax_number": "12/345/67890",
    "email": "invoices@halden.example",
    "electronic_address": "DE123456789",
    "electronic_address_scheme": "9930",
    "registration": "HRB 12345, Amtsgericht Hamburg",
    "contact_name": "Dana Okonkwo-Reiß",
    "phone": "+49 40 123456",
    "footer_text": "Managing director: Olivia Halden\nHamburg",
}
BUYER_PARTS = {
    "street": "Mill Lane 7",
    "address_line": "c/o The Miller",
    "postcode": "1011 AB",
    "city": "Amsterdam",
    "region": "Noord-Holland",
    "country": "NL",
    "tax_number": "123456789",
    "email": "invoices@acme.example",
    "electronic_address": "12345678",
    "electronic_address_scheme": "0106",
    "customer_number": "10007",
}
REASONS = {
    "E": "Exempt: § 4 no. 21 UStG",
    "AE": "Reverse charge",
    "K": "Steuerfreie innergemeinschaftliche Lieferung",
    "G": "Steuerfreie Ausfuhrlieferung",
    "O": "Nicht steuerbar",
}
SUPPLY_OF_GOODS: dict[str, Any] = {"supply_date": "2026-02-27", "delivery_country": "NL"}


class Rate(NamedTuple):
    """A rate of a document; without a name, what lines without a rate mean."""

    category: str
    percentage: str = "0"
    name: str = "VAT"
    reason: str | None = None

    @property
    def told(self) -> str:
        return REASONS.get(self.category, "") if self.reason is None else self.reason


STANDARD = Rate("S", "19")
REDUCED = Rate("S", "7", "VAT reduced")
UNTAXED = Rate("E", name="")


class SampleLine(NamedTuple):
    """A line of 1.5 hours of 123.45 in a currency of two decimals, unless it says otherwise."""

    rate: Rate = STANDARD
    quantity: str = "1.5"
    unit_price: int = 12345
    discount_type: DiscountType | None = None
    discount_value: int | None = None
    unit: str = "h"
    description: str = "Consulting on site\nMarch, in <Hamburg> & Kiel"


class Sample(NamedTuple):
    document: Document
    facts: Facts


def sample(
    *lines: SampleLine,
    document_type: DocumentType = DocumentType.INVOICE,
    seller: dict[str, Any] | None = None,
    buyer: dict[str, Any] | None = None,
    **facts: Any,
) -> Sample:
    """Return an issued document in EUR with these lines; what is None is left out of its facts.

    `seller` and `buyer` change parts, of which None leaves out one.
    """
    lines = lines or (SampleLine(),)
    seller_parts = _changed(SELLER_PARTS, seller or {})
    buyer_parts = _changed(BUYER_PARTS, buyer or {})
    vat_numbers = {"seller": "DE123456789", "customer": "NL001234567B01"}
    parties = {
        "seller": {
            "name": "Halden Works",
            "address": "",
            "vat_number": seller_parts.pop("vat_number", vat_numbers["seller"]),
            "iban": seller_parts.pop("iban", "DE02120300000000202051"),
            "bic": "BYLADEM1001",
        },
        "customer": {
            "name": "Acme Ltd",
            "address": "",
            "vat_number": buyer_parts.pop("vat_number", vat_numbers["customer"]),
        },
    }
    made = {
        "issue_date": "2026-03-02",
        "due_date": "2026-04-01",
        "currency_code": "EUR",
        "minor_unit": 2,
        "language": "en",
        "notes": "Thank you.\nUntil next time.",
        "reference": "PO 7",
        "buyer_reference": "04011000-12345-03",
        **parties,
        **_computed(lines),
        **facts,
    }
    document = Document(
        status=DocumentStatus.ISSUED,
        type=document_type,
        number="INV-2026-0001",
        seller_parts=seller_parts,
        buyer_parts=buyer_parts,
    )
    return Sample(document, _changed({}, made))


def _changed(parts: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in {**parts, **changes}.items() if each is not None}


def _computed(lines: Sequence[SampleLine]) -> Facts:
    """Return what follows from lines: the lines, the rates, and the totals."""
    rates = {line.rate: UUID(int=number) for number, line in enumerate(lines) if line.rate.name}
    taxes = {
        rate: TaxFacts(rate_id, rate.name, parse_fixed_point(rate.percentage))
        for rate, rate_id in rates.items()
    }
    by_id = {rate_id: rate for rate, rate_id in rates.items()}
    totals = calculate_totals(
        [
            LineAmounts(
                quantity=parse_fixed_point(line.quantity),
                unit_price=line.unit_price,
                discount_type=line.discount_type,
                discount_value=line.discount_value,
                tax_rate=taxes.get(line.rate),
            )
            for line in lines
        ]
    )
    untaxed = [line.rate for line in lines if not line.rate.name]
    return {
        "line_items": [
            {
                "description": line.description,
                "quantity": line.quantity,
                "unit": line.unit,
                "unit_price": line.unit_price,
                "discount_type": line.discount_type,
                "discount_value": line.discount_value,
                "tax_rate_id": str(rates[line.rate]) if line.rate.name else None,
                "discount_amount": amounts.discount_amount,
                "net_amount": amounts.net_amount,
            }
            for line, amounts in zip(lines, totals.lines, strict=True)
        ],
        "tax_breakdown": [
            {
                "tax_rate_id": str(row.rate.id),
                "name": row.rate.name,
                "percentage": format_fixed_point(row.rate.percentage),
                "taxable_amount": row.taxable_amount,
                "tax_amount": row.tax_amount,
                **_changed(
                    {},
                    {
                        "category": by_id[row.rate.id].category or None,
                        "reason": by_id[row.rate.id].told or None,
                    },
                ),
            }
            for row in totals.tax_breakdown
        ],
        "untaxed_category": untaxed[0].category or None if untaxed else None,
        "untaxed_reason": untaxed[0].told or None if untaxed else None,
        "net_total": totals.net_total,
        "discount_total": totals.discount_total,
        "tax_total": totals.tax_total,
        "grand_total": totals.grand_total,
    }
