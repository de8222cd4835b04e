"""What an e-invoice needs and a document lacks, in words, and where to mend it.

The rules are those of EN 16931 (BR-...), XRechnung (BR-DE-...) and Peppol (PEPPOL-EN16931-R...).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.terms import (
    EMAIL_SCHEME,
    SLACK,
    Address,
    Invoice,
    Line,
    has_prefix,
    is_german,
)
from invoicing.models.taxes import TaxCategory

# EN 16931 allows no more in an amount (BR-DEC-...).
DECIMALS = 2
# As many as a binary floating-point number holds exactly.
DIGITS = 15
# BR-DE-27.
_LEAST_DIGITS_OF_PHONE = 3
# These need a VAT number of the seller (BR-IC-02, BR-G-02), and these one of the buyer (BR-AE-02).
_WITH_SELLER_VAT = {TaxCategory.INTRA_COMMUNITY, TaxCategory.EXPORT}
_WITH_BUYER_VAT = {TaxCategory.INTRA_COMMUNITY, TaxCategory.REVERSE_CHARGE}


class Place(StrEnum):
    """Where a person mends it; what nobody can mend has NOWHERE."""

    COMPANY = "company"
    CUSTOMER = "customer"
    DRAFT = "draft"
    RATE = "rate"
    NOWHERE = ""


@dataclass(frozen=True)
class Missing:
    """What is missing, as a sentence of the pages; with the rate, if it is one."""

    place: Place
    text: str
    tax_rate_id: str = ""


def find_missing(invoice: Invoice) -> list[Missing]:
    """Return what the invoice lacks for its kind; if that is nothing, its XML is valid."""
    if nothing_helps := list(_of_amounts(invoice)):
        return nothing_helps
    found = [*_of_taxes(invoice), *_of_parties(invoice), *_of_vat_numbers(invoice)]
    found += _of_supply(invoice)
    if invoice.kind is Kind.PEPPOL:
        found += _of_peppol(invoice)
    if is_german(invoice.kind, invoice.seller.address, invoice.buyer.address):
        found += _of_xrechnung(invoice)
    return list(dict.fromkeys(found))


def _of_amounts(invoice: Invoice) -> Iterator[Missing]:
    if invoice.most_decimals > DECIMALS:
        yield Missing(
            Place.NOWHERE,
            f"An e-invoice has amounts with at most {DECIMALS} decimals (EN 16931), and a"
            " currency of this document has more: there is a PDF only.",
        )
    # BR-CO-10 is judged with binary floating point.
    if len(invoice.grand_total.replace(".", "")) > DIGITS:
        yield Missing(
            Place.NOWHERE,
            f"The total has more than {DIGITS} digits, which those who check e-invoices cannot add"
            " up: there is a PDF only.",
        )


def _of_taxes(invoice: Invoice) -> Iterator[Missing]:
    for meaning in invoice.meanings:
        rate = meaning.tax_rate_id
        place = Place.RATE if rate else Place.COMPANY
        subject = f"The tax rate “{meaning.name}”" if rate else "A line without a tax rate"
        if not meaning.category:
            yield Missing(place, f"{subject} has no category yet.", rate)
        # BR-E-10
        if meaning.category == TaxCategory.EXEMPT and not meaning.reason:
            yield Missing(place, f"{subject} is exempt, and nothing says why.", rate)
    # BR-O-11, BR-O-12
    if invoice.is_outside_scope and len(invoice.categories) > 1:
        yield Missing(
            Place.DRAFT,
            "What is outside the scope of VAT needs an invoice of its own: on this one there are"
            " lines of another category.",
        )


def _of_parties(invoice: Invoice) -> Iterator[Missing]:
    seller, buyer = invoice.seller, invoice.buyer
    # BR-09, BR-11
    if not seller.address.country:
        yield Missing(Place.COMPANY, "The country of your company is missing.")
    if not buyer.address.country:
        yield Missing(Place.CUSTOMER, "The country of the customer is missing.")
    if invoice.is_outside_scope:
        # BR-CO-26
        if not (seller.identifier or seller.registration):
            yield Missing(
                Place.COMPANY,
                "Your company needs a registration or a tax number: where nothing is in the scope"
                " of VAT, its VAT number must not be named.",
            )
    # BR-S-02, BR-Z-02, BR-E-02, BR-AE-02, BR-DE-16
    elif not (seller.vat_number or seller.tax_number):
        yield Missing(Place.COMPANY, "The VAT number or the tax number of your company is missing.")


def _of_vat_numbers(invoice: Invoice) -> Iterator[Missing]:
    seller, buyer = invoice.seller.vat_number, invoice.buyer.vat_number
    if not seller and invoice.categories & _WITH_SELLER_VAT:
        yield Missing(Place.COMPANY, "The VAT number of your company is missing.")
    if not buyer and invoice.categories & _WITH_BUYER_VAT:
        yield Missing(Place.CUSTOMER, "The VAT number of the customer is missing.")
    # BR-CO-09
    wanted = "must begin with the two capital letters of its country."
    if seller and not has_prefix(seller):
        yield Missing(Place.COMPANY, f"The VAT number of your company {wanted}")
    if buyer and not has_prefix(buyer):
        yield Missing(Place.CUSTOMER, f"The VAT number of the customer {wanted}")


def _of_supply(invoice: Invoice) -> Iterator[Missing]:
    if TaxCategory.INTRA_COMMUNITY not in invoice.categories:
        return
    # BR-IC-11
    if not invoice.delivery_date:
        yield Missing(Place.DRAFT, "The date of supply is missing: goods go to another country.")
    # BR-IC-12
    if not invoice.delivery_address.country:
        yield Missing(
            Place.DRAFT,
            "The country of delivery is missing: goods go to another country."
            if invoice.kind is not Kind.XRECHNUNG
            else "The country of delivery is missing, or is not that of the customer's address:"
            " an XRechnung names the whole address of delivery.",
        )


def _of_peppol(invoice: Invoice) -> Iterator[Missing]:
    # R003
    if not (invoice.buyer_reference or invoice.order_reference):
        yield Missing(Place.DRAFT, "A reference of the customer or a buyer reference is missing.")
    # R020, R010
    wanted = "is missing: an address in the Peppol network."
    if invoice.seller.electronic_address_scheme in {"", EMAIL_SCHEME}:
        yield Missing(Place.COMPANY, f"The electronic address of your company {wanted}")
    if invoice.buyer.electronic_address_scheme in {"", EMAIL_SCHEME}:
        yield Missing(Place.CUSTOMER, f"The electronic address of the customer {wanted}")

    # R120
    for line in invoice.lines:
        if abs(_rounding(line)) > SLACK:
            yield Missing(
                Place.NOWHERE,
                f"Line {line.identifier} is rounded by more than {SLACK} {invoice.currency_code},"
                " which Peppol does not accept.",
            )


def _rounding(line: Line) -> Decimal:
    """Return by how much the net amount differs from what it follows from, in major units."""
    discount = Decimal(line.allowance.amount) if line.allowance else 0
    exact = Decimal(line.quantity) * Decimal(line.unit_price) - discount
    return exact - Decimal(line.net_amount)


def _of_xrechnung(invoice: Invoice) -> Iterator[Missing]:
    seller, buyer = invoice.seller, invoice.buyer
    # BR-DE-15
    if not invoice.buyer_reference:
        yield Missing(
            Place.CUSTOMER,
            "The buyer reference is missing: for an authority its Leitweg-ID, for others any text"
            " that the customer gave. The draft may have one of its own.",
        )
    yield from _of_place(Place.COMPANY, "your company", seller.address)
    yield from _of_place(Place.CUSTOMER, "the customer", buyer.address)
    # BR-DE-5 to BR-DE-7
    if not seller.contact_name:
        yield Missing(Place.COMPANY, "The contact person of your company is missing.")
    if sum(map(str.isdigit, seller.phone)) < _LEAST_DIGITS_OF_PHONE:
        yield Missing(Place.COMPANY, "The phone number of your company is missing.")
    if not seller.email:
        yield Missing(Place.COMPANY, "The e-mail address of your company is missing.")
    # PEPPOL-EN16931-R010, and by the e-mail address above R020
    if invoice.kind is Kind.XRECHNUNG and not buyer.electronic_address:
        yield Missing(
            Place.CUSTOMER, "The customer needs an electronic address or an e-mail address."
        )
    # BR-DE-1
    if not invoice.iban:
        yield Missing(Place.COMPANY, "The IBAN of your company is missing.")


def _of_place(place: Place, whose: str, address: Address) -> Iterator[Missing]:
    """Yield what BR-DE-3, BR-DE-4, BR-DE-8 and BR-DE-9 ask for."""
    if not address.city:
        yield Missing(place, f"The city of {whose} is missing.")
    if not address.postcode:
        yield Missing(place, f"The postcode of {whose} is missing.")
