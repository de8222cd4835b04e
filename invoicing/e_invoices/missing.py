"""What an e-invoice needs and a document lacks, in words, and where to mend it.

The rules are those of EN 16931 (BR-...), XRechnung (BR-DE-...) and Peppol (PEPPOL-EN16931-R...).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext, gettext_noop

from invoicing.e_invoices.kinds import Kind
from invoicing.e_invoices.terms import (
    EMAIL_SCHEME,
    SLACK,
    Address,
    Invoice,
    Line,
    Party,
    Tax,
    has_prefix,
    is_german,
)
from invoicing.electronic_addresses import is_number_of_scheme
from invoicing.models.taxes import TaxCategory

# EN 16931 allows no more in an amount (BR-DEC-...).
DECIMALS = 2
# As many as a binary floating-point number holds exactly.
DIGITS = 15
# Currencies that the list of BR-CL-04 and BR-CL-05 lacks: the dobra of 2018. Factur-X has it.
_UNLISTED_CURRENCIES = {"STN"}
# By how much a tax must differ less from what its amount and its percentage come to, in major units
# (BR-S-09, BR-CO-17).
_ROUNDING = 1
# A percentage below it is 0 for BR-CO-17, and so must the tax be, both to the nearest integer.
_HALF = Decimal("0.5")
_CENT = Decimal("0.01")
# BR-DE-27.
_LEAST_DIGITS_OF_PHONE = 3
# These need a VAT number of the seller (BR-IC-02, BR-G-02), and these one of the buyer (BR-AE-02).
_WITH_SELLER_VAT = {TaxCategory.INTRA_COMMUNITY, TaxCategory.EXPORT}
_WITH_BUYER_VAT = {TaxCategory.INTRA_COMMUNITY, TaxCategory.REVERSE_CHARGE}

# What the warnings before issuing say in other words.
TAX_NUMBER = gettext_noop("The VAT number or the tax number of your company is missing.")
REGISTRATION = gettext_noop(
    "Your company needs a registration or a tax number: where nothing is in the scope of VAT, its"
    " VAT number must not be named."
)
IBAN = gettext_noop("The IBAN of your company is missing.")
BUYER_VAT_NUMBER = gettext_noop("The VAT number of the customer is missing.")
SUPPLY_DATE = gettext_noop("The date of supply is missing: goods go to another country.")
RATE_UNKNOWN = gettext_noop("The tax rate “%(name)s” has no category yet.")
UNTAXED_UNKNOWN = gettext_noop("A line without a tax rate has no category yet.")
RATE_UNEXPLAINED = gettext_noop("The tax rate “%(name)s” is exempt, and nothing says why.")
UNTAXED_UNEXPLAINED = gettext_noop("A line without a tax rate is exempt, and nothing says why.")


class Place(StrEnum):
    """Where a person mends it; what nobody can mend has NOWHERE."""

    COMPANY = "company"
    CUSTOMER = "customer"
    DRAFT = "draft"
    RATE = "rate"
    NOWHERE = ""


@dataclass(frozen=True)
class Missing:
    """What is missing, as a sentence in English; with the rate, if it is one.

    `told` has it in the language of the page, from the `sentence` that `values` complete.
    """

    place: Place
    text: str
    tax_rate_id: str = ""
    sentence: str = field(default="", compare=False)
    values: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def told(self) -> str:
        return gettext(self.sentence) % self.values


def _missing(place: Place, sentence: str, rate: str = "", **values: Any) -> Missing:
    return Missing(place, sentence % values, rate, sentence, values)


def find_missing(invoice: Invoice) -> list[Missing]:
    """Return what the invoice lacks for its kind; if that is nothing, its XML is valid."""
    if nothing_helps := list(_of_amounts(invoice)):
        return nothing_helps
    found = [*_of_taxes(invoice), *_of_parties(invoice), *_of_vat_numbers(invoice)]
    found += _of_supply(invoice)
    if invoice.kind is Kind.PEPPOL:
        found += [*_of_peppol(invoice), *_of_digits(invoice)]
    if is_german(invoice.kind, invoice.seller.address, invoice.buyer.address):
        found += _of_xrechnung(invoice)
    return list(dict.fromkeys(found))


def _of_amounts(invoice: Invoice) -> Iterator[Missing]:
    if invoice.most_decimals > DECIMALS:
        yield _missing(
            Place.NOWHERE,
            gettext_noop(
                "An e-invoice has amounts with at most %(decimals)s decimals (EN 16931), and a"
                " currency of this document has more: there is a PDF only."
            ),
            decimals=DECIMALS,
        )
    # BR-CO-10 is judged with binary floating point.
    if len(invoice.grand_total.replace(".", "")) > DIGITS:
        yield _missing(
            Place.NOWHERE,
            gettext_noop(
                "The total has more than %(digits)s digits, which those who check e-invoices cannot"
                " add up: there is a PDF only."
            ),
            digits=DIGITS,
        )
    used = {invoice.currency_code, invoice.tax_currency_code}
    if invoice.kind is not Kind.FACTUR_X and (unlisted := used & _UNLISTED_CURRENCIES):
        yield _missing(
            Place.NOWHERE,
            gettext_noop("Those who check such e-invoices do not know the currency %(currency)s."),
            currency=min(unlisted),
        )
    taxed = [tax for tax in invoice.taxes if tax.category == TaxCategory.STANDARD]
    if any(_deviation(tax) >= _ROUNDING for tax in taxed):
        yield _missing(
            Place.NOWHERE,
            gettext_noop("A tax is rounded by more than e-invoices allow: there is a PDF only."),
        )
    if any(Decimal(tax.percentage) < _HALF <= Decimal(tax.tax_amount) for tax in taxed):
        yield _missing(
            Place.NOWHERE,
            gettext_noop(
                "Those who check e-invoices take less than half a percent of tax as none: there is"
                " a PDF only."
            ),
        )


def _deviation(tax: Tax) -> Decimal:
    """Return by how much a tax differs from what its row comes to, in major units."""
    exact = Decimal(tax.taxable_amount) * Decimal(tax.percentage) / 100
    return abs(exact.quantize(_CENT, ROUND_HALF_UP) - Decimal(tax.tax_amount))


def _of_taxes(invoice: Invoice) -> Iterator[Missing]:
    for meaning in invoice.meanings:
        rate, name = meaning.tax_rate_id, meaning.name
        place = Place.RATE if rate else Place.COMPANY
        if not meaning.category:
            sentence = RATE_UNKNOWN if rate else UNTAXED_UNKNOWN
            yield _missing(place, sentence, rate, name=name)
        # BR-E-10
        if meaning.category == TaxCategory.EXEMPT and not meaning.reason:
            sentence = RATE_UNEXPLAINED if rate else UNTAXED_UNEXPLAINED
            yield _missing(place, sentence, rate, name=name)
    # BR-O-11, BR-O-12
    if invoice.is_outside_scope and len(invoice.categories) > 1:
        yield _missing(
            Place.DRAFT,
            gettext_noop(
                "What is outside the scope of VAT needs an invoice of its own: on this one there"
                " are lines of another category."
            ),
        )


def _of_parties(invoice: Invoice) -> Iterator[Missing]:
    seller, buyer = invoice.seller, invoice.buyer
    # BR-09, BR-11
    if not seller.address.country:
        yield _missing(Place.COMPANY, gettext_noop("The country of your company is missing."))
    if not buyer.address.country:
        yield _missing(Place.CUSTOMER, gettext_noop("The country of the customer is missing."))
    if invoice.is_outside_scope:
        # BR-CO-26
        if not (seller.identifier or seller.registration):
            yield _missing(Place.COMPANY, REGISTRATION)
    # BR-S-02, BR-Z-02, BR-E-02, BR-AE-02, BR-DE-16
    elif not (seller.vat_number or seller.tax_number):
        yield _missing(Place.COMPANY, TAX_NUMBER)


def _of_vat_numbers(invoice: Invoice) -> Iterator[Missing]:
    seller, buyer = invoice.seller.vat_number, invoice.buyer.vat_number
    if not seller and invoice.categories & _WITH_SELLER_VAT:
        yield _missing(Place.COMPANY, gettext_noop("The VAT number of your company is missing."))
    if not buyer and invoice.categories & _WITH_BUYER_VAT:
        yield _missing(Place.CUSTOMER, BUYER_VAT_NUMBER)
    # BR-CO-09
    if seller and not has_prefix(seller):
        yield _missing(
            Place.COMPANY,
            gettext_noop(
                "The VAT number of your company must begin with the two capital letters of its"
                " country."
            ),
        )
    if buyer and not has_prefix(buyer):
        yield _missing(
            Place.CUSTOMER,
            gettext_noop(
                "The VAT number of the customer must begin with the two capital letters of its"
                " country."
            ),
        )


def _of_supply(invoice: Invoice) -> Iterator[Missing]:
    if TaxCategory.INTRA_COMMUNITY not in invoice.categories:
        return
    # BR-IC-11
    if not invoice.delivery_date:
        yield _missing(Place.DRAFT, SUPPLY_DATE)
    # BR-IC-12
    if not invoice.delivery_address.country:
        yield _missing(
            Place.DRAFT,
            gettext_noop(
                "The country of delivery is missing, or is not that of the customer's address:"
                " by German rules an e-invoice names the whole address of delivery."
            )
            if is_german(invoice.kind, invoice.seller.address, invoice.buyer.address)
            else gettext_noop("The country of delivery is missing: goods go to another country."),
        )


def _of_peppol(invoice: Invoice) -> Iterator[Missing]:
    # R003
    if not (invoice.buyer_reference or invoice.order_reference):
        yield _missing(
            Place.DRAFT,
            gettext_noop("A reference of the customer or a buyer reference is missing."),
        )
    # R020, R010
    if invoice.seller.electronic_address_scheme in {"", EMAIL_SCHEME}:
        yield _missing(
            Place.COMPANY,
            gettext_noop(
                "The electronic address of your company is missing: an address in the Peppol"
                " network."
            ),
        )
    if invoice.buyer.electronic_address_scheme in {"", EMAIL_SCHEME}:
        yield _missing(
            Place.CUSTOMER,
            gettext_noop(
                "The electronic address of the customer is missing: an address in the Peppol"
                " network."
            ),
        )
    # R120
    for line in invoice.lines:
        if abs(_rounding(line)) > SLACK:
            yield _missing(
                Place.NOWHERE,
                gettext_noop(
                    "Line %(line)s is rounded by more than %(amount)s %(currency)s, which Peppol"
                    " does not accept."
                ),
                line=line.identifier,
                amount=SLACK,
                currency=invoice.currency_code,
            )


def _of_digits(invoice: Invoice) -> Iterator[Missing]:
    """Yield what PEPPOL-COMMON-R040 to R050 ask for."""
    if not _has_its_digits(invoice.seller):
        yield _missing(
            Place.COMPANY,
            gettext_noop("The electronic address of your company has a mistake in its digits."),
        )
    if not _has_its_digits(invoice.buyer):
        yield _missing(
            Place.CUSTOMER,
            gettext_noop("The electronic address of the customer has a mistake in its digits."),
        )


def _has_its_digits(party: Party) -> bool:
    return is_number_of_scheme(party.electronic_address, party.electronic_address_scheme)


def _rounding(line: Line) -> Decimal:
    """Return by how much the net amount differs from what it follows from, in major units."""
    discount = Decimal(line.allowance.amount) if line.allowance else 0
    exact = Decimal(line.quantity) * Decimal(line.unit_price) - discount
    return exact - Decimal(line.net_amount)


def _of_xrechnung(invoice: Invoice) -> Iterator[Missing]:
    seller, buyer = invoice.seller, invoice.buyer
    # BR-DE-15
    if not invoice.buyer_reference:
        yield _missing(
            Place.CUSTOMER,
            gettext_noop(
                "The buyer reference is missing: for an authority its Leitweg-ID, for others any"
                " text that the customer gave. The draft may have one of its own."
            ),
        )
    yield from _of_places(seller.address, buyer.address)
    # BR-DE-5 to BR-DE-7
    if not seller.contact_name:
        yield _missing(
            Place.COMPANY, gettext_noop("The contact person of your company is missing.")
        )
    if sum(map(str.isdigit, seller.phone)) < _LEAST_DIGITS_OF_PHONE:
        yield _missing(Place.COMPANY, gettext_noop("The phone number of your company is missing."))
    if not seller.email:
        yield _missing(
            Place.COMPANY, gettext_noop("The e-mail address of your company is missing.")
        )
    # PEPPOL-EN16931-R010, and by the e-mail address above R020
    if invoice.kind is Kind.XRECHNUNG and not buyer.electronic_address:
        yield _missing(
            Place.CUSTOMER,
            gettext_noop("The customer needs an electronic address or an e-mail address."),
        )
    # BR-DE-1
    if not invoice.iban:
        yield _missing(Place.COMPANY, IBAN)


def _of_places(seller: Address, buyer: Address) -> Iterator[Missing]:
    """Yield what BR-DE-3, BR-DE-4, BR-DE-8 and BR-DE-9 ask for."""
    if not seller.city:
        yield _missing(Place.COMPANY, gettext_noop("The city of your company is missing."))
    if not seller.postcode:
        yield _missing(Place.COMPANY, gettext_noop("The postcode of your company is missing."))
    if not buyer.city:
        yield _missing(Place.CUSTOMER, gettext_noop("The city of the customer is missing."))
    if not buyer.postcode:
        yield _missing(Place.CUSTOMER, gettext_noop("The postcode of the customer is missing."))
