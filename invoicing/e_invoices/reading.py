"""Reads a document as an invoice in the terms of EN 16931."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.terms import (
    EMAIL_SCHEME,
    SLACK,
    Address,
    Allowance,
    Invoice,
    Line,
    Party,
    RateMeaning,
    Tax,
    has_prefix,
    is_german,
)
from invoicing.e_invoices.units import unit_code
from invoicing.fixed_point import format_fixed_point
from invoicing.models import Company, Document, DocumentType
from invoicing.models.taxes import TaxCategory
from invoicing.services.document_facts import Facts, parts_of
from invoicing.totals import DiscountType
from invoicing.vat_area import EU_VAT_AREA

# What is not charged, and why, by the codes of the list VATEX; E has a wording only.
_REASON_CODES: Mapping[str, str] = {
    TaxCategory.REVERSE_CHARGE: "VATEX-EU-AE",
    TaxCategory.INTRA_COMMUNITY: "VATEX-EU-IC",
    TaxCategory.EXPORT: "VATEX-EU-G",
    TaxCategory.OUTSIDE_SCOPE: "VATEX-EU-O",
}
# Rates of which EN 16931 forbids to say why.
_WITHOUT_REASON = {TaxCategory.STANDARD, TaxCategory.ZERO}
# The standard's list of countries has Kosovo under a code of its own.
_COUNTRY_CODES = {"XK": "1A"}
_BASIS_POINT_DECIMALS = 2
_NOTHING = "0"

Parts = Mapping[str, Any]


def read_invoice(document: Document, facts: Facts, kind: Kind) -> Invoice:
    """Return a document, which has these facts, as this kind of e-invoice says it.

    What it lacks is ""; `find_missing` names it. A draft is read as it would be issued now.
    """
    meanings = {each.tax_rate_id: each for each in _meanings(facts)}
    categories = {each.category for each in meanings.values()}
    seller_parts, buyer_parts = parts_of(document)
    # BR-O-02 forbids VAT numbers where nothing is in the scope of VAT.
    with_vat = TaxCategory.OUTSIDE_SCOPE not in categories
    seller = _party(facts["seller"], seller_parts, kind, with_vat=with_vat)
    buyer = _party(facts["customer"], buyer_parts, kind, with_vat=with_vat)
    corrects = facts.get("corrects", {})
    decimals = facts["minor_unit"]
    return Invoice(
        kind=kind,
        document_type=DocumentType(document.type),
        number=document.number or "",
        issue_date=facts["issue_date"],
        due_date=facts["due_date"],
        currency_code=facts["currency_code"],
        note="\n".join(filter(None, (facts["notes"], facts.get("correction_reason")))),
        buyer_reference=facts.get("buyer_reference", ""),
        order_reference=facts["reference"],
        corrected_number=corrects.get("number", ""),
        corrected_issue_date=corrects.get("issue_date", ""),
        seller=seller,
        # EN 16931 has a tax number of the seller only.
        buyer=replace(buyer, tax_number=""),
        delivery_date=_delivery_date(facts, categories),
        period_start=facts["supply_date"] if "supply_end_date" in facts else "",
        period_end=facts.get("supply_end_date", ""),
        delivery_address=_delivery_address(facts, seller.address, buyer.address, kind),
        iban=facts["seller"]["iban"],
        bic=facts["seller"]["bic"],
        lines=tuple(_lines(facts, meanings)),
        taxes=tuple(_taxes(facts, meanings)),
        net_total=_amount(facts["net_total"], decimals),
        tax_total=_amount(facts["tax_total"], decimals),
        grand_total=_amount(facts["grand_total"], decimals),
        most_decimals=max(decimals, facts.get("national_minor_unit", 0)),
        meanings=tuple(meanings.values()),
        **_national(facts),
    )


def _amount(amount: int, decimals: int) -> str:
    """Return an amount with all decimals of its currency: 1250 of two is "12.50"."""
    whole, fraction = divmod(amount, 10**decimals)
    return f"{whole}.{fraction:0{decimals}d}" if decimals else str(whole)


def _national(facts: Facts) -> dict[str, str]:
    if "national_tax_total" not in facts:
        return {"tax_currency_code": "", "national_tax_total": ""}
    return {
        "tax_currency_code": facts["national_currency"],
        "national_tax_total": _amount(facts["national_tax_total"], facts["national_minor_unit"]),
    }


def _party(facts: Facts, parts: Parts, kind: Kind, *, with_vat: bool) -> Party:
    """Return a party; one that has neither VAT number nor registration is known by its tax number.

    Peppol delivers to no e-mail address; elsewhere that stands in for another electronic address.
    Outside the EU some VAT numbers have no prefix of their country: these are no VAT identifiers.
    """
    vat_number = facts["vat_number"] if with_vat else ""
    if parts.get("country") not in EU_VAT_AREA and not has_prefix(vat_number):
        vat_number = ""
    registration, tax_number = parts.get("registration", ""), parts.get("tax_number", "")
    email = parts.get("email", "")
    address = parts.get("electronic_address", "")
    scheme = parts.get("electronic_address_scheme", "")
    if not (address and scheme):
        address, scheme = ("", "") if kind is Kind.PEPPOL else (email, EMAIL_SCHEME)
    return Party(
        name=facts["name"],
        address=_address(parts),
        identifier=parts.get("customer_number", "")
        or ("" if vat_number or registration else tax_number),
        registration=registration,
        vat_number=vat_number,
        tax_number=tax_number,
        legal_text=parts.get("footer_text", ""),
        electronic_address=address,
        electronic_address_scheme=scheme,
        contact_name=parts.get("contact_name", ""),
        phone=parts.get("phone", ""),
        email=email,
    )


def _address(parts: Parts) -> Address:
    texts = {name: parts[name] for name in Company.ADDRESS_PARTS if name in parts}
    return Address(**texts | {"country": _country(texts.get("country", ""))})


def _country(code: str) -> str:
    return _COUNTRY_CODES.get(code, code)


def _delivery_date(facts: Facts, categories: set[str]) -> str:
    """Return the last day of supply; where nothing is said, that of issue.

    Of an intra-community supply and of what is corrected, nothing is assumed.
    """
    is_open = TaxCategory.INTRA_COMMUNITY in categories or "corrects" in facts
    assumed = "" if is_open else facts["issue_date"]
    told: str = facts.get("supply_end_date") or facts.get("supply_date") or assumed
    return told


def _delivery_address(facts: Facts, seller: Address, buyer: Address, kind: Kind) -> Address:
    """Return where it was delivered: the country, which is all that a document says.

    XRechnung takes no country without a city and a postcode (BR-DE-10, BR-DE-11): there it is the
    buyer's address if that is in the country, and else left out.
    """
    country = _country(facts.get("delivery_country", ""))
    if not is_german(kind, seller, buyer):
        return Address(country=country)
    return buyer if country == buyer.country else Address()


def _meanings(facts: Facts) -> Iterator[RateMeaning]:
    for row in facts["tax_breakdown"]:
        yield RateMeaning(
            tax_rate_id=row["tax_rate_id"],
            name=row["name"],
            category=row.get("category", ""),
            reason=row.get("reason", ""),
        )
    if not all(line["tax_rate_id"] for line in facts["line_items"]):
        yield RateMeaning(
            tax_rate_id="",
            name="",
            category=facts.get("untaxed_category", ""),
            reason=facts.get("untaxed_reason", ""),
        )


def _percentages(facts: Facts) -> dict[str, str]:
    return {row["tax_rate_id"]: row["percentage"] for row in facts["tax_breakdown"]}


def _lines(facts: Facts, meanings: Mapping[str, RateMeaning]) -> Iterator[Line]:
    percentages, decimals = _percentages(facts), facts["minor_unit"]
    for position, line in enumerate(facts["line_items"], start=1):
        name, _, description = line["description"].partition("\n")
        rate = line["tax_rate_id"] or ""
        category = meanings[rate].category
        is_outside_scope = category == TaxCategory.OUTSIDE_SCOPE
        yield Line(
            identifier=str(position),
            name=name,
            description=description,
            quantity=line["quantity"],
            unit_code=unit_code(line.get("unit", "")),
            unit_price=_amount(line["unit_price"], decimals),
            allowance=_allowance(line, decimals),
            net_amount=_amount(line["net_amount"], decimals),
            category=category,
            percentage="" if is_outside_scope else percentages.get(rate, _NOTHING),
        )


def _allowance(line: Facts, decimals: int) -> Allowance | None:
    """Return the discount; a percentage is left out where whole yen, say, are too coarse for it."""
    discount = line["discount_amount"]
    if not discount:
        return None
    amount = _amount(discount, decimals)
    if line["discount_type"] == DiscountType.AMOUNT:
        return Allowance(amount=amount)
    base_amount = _amount(line["net_amount"] + discount, decimals)
    percentage = format_fixed_point(line["discount_value"], decimals=_BASIS_POINT_DECIMALS)
    exact = Decimal(base_amount) * Decimal(percentage) / 100
    # PEPPOL-EN16931-R040
    if abs(exact - Decimal(amount)) > SLACK:
        return Allowance(amount=amount)
    return Allowance(amount=amount, base_amount=base_amount, percentage=percentage)


def _taxes(facts: Facts, meanings: Mapping[str, RateMeaning]) -> Iterator[Tax]:
    """Yield a row for each category and percentage, which several rates may share."""
    amounts = {row["tax_rate_id"]: row for row in facts["tax_breakdown"]}
    rates: dict[tuple[str, str], list[str]] = {}
    for rate, meaning in meanings.items():
        percentage = amounts[rate]["percentage"] if rate else _NOTHING
        rates.setdefault((meaning.category, percentage), []).append(rate)
    amounts[""] = {"taxable_amount": _untaxed_amount(facts), "tax_amount": 0}
    for (category, percentage), alike in rates.items():
        reasons = dict.fromkeys(meanings[rate].reason for rate in alike)
        yield Tax(
            category=category,
            percentage=percentage,
            taxable_amount=_sum(amounts, alike, "taxable_amount", facts["minor_unit"]),
            tax_amount=_sum(amounts, alike, "tax_amount", facts["minor_unit"]),
            reason="" if category in _WITHOUT_REASON else "\n".join(filter(None, reasons)),
            reason_code=_REASON_CODES.get(category, ""),
        )


def _sum(amounts: Mapping[str, Facts], rates: list[str], name: str, decimals: int) -> str:
    return _amount(sum(amounts[rate][name] for rate in rates), decimals)


def _untaxed_amount(facts: Facts) -> int:
    return sum(line["net_amount"] for line in facts["line_items"] if not line["tax_rate_id"])
