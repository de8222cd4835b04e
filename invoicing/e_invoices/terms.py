"""An invoice in the terms of EN 16931, whichever syntax writes them.

Every term is a text as XML has it: amounts with the currency's decimals, quantities and percentages
as decimal numbers, dates in ISO 8601. A term that the document lacks is "". BT and BG are the
standard's numbers of terms and groups of terms.
"""

from dataclasses import dataclass
from decimal import Decimal

from invoicing.e_invoices.kinds import Kind
from invoicing.languages import is_country
from invoicing.models import DocumentType
from invoicing.models.taxes import TaxCategory

# The code of the list UNTDID 5189 for the reason of an allowance (BT-140): a discount.
DISCOUNT_CODE = "95"
# By how much an amount that follows from others may differ from them, in major units: rules of
# Peppol, some of which are XRechnung's too.
SLACK = Decimal("0.02")
# Of the list EAS: an electronic address that is an e-mail address.
EMAIL_SCHEME = "EM"
# Prefixes of VAT numbers that are no countries of ISO 3166: Greece and Northern Ireland.
_OTHER_PREFIXES = {"EL", "XI"}
# Kosovo and South Sudan, which the list of BR-CO-09 lacks.
_NO_PREFIXES = {"XK", "SS"}


@dataclass(frozen=True, kw_only=True)
class Address:
    """A postal address: BG-5 of the seller, BG-8 of the buyer, BG-15 of the delivery."""

    street: str = ""  # BT-35, BT-50, BT-75
    address_line: str = ""  # BT-36, BT-51, BT-76
    city: str = ""  # BT-37, BT-52, BT-77
    postcode: str = ""  # BT-38, BT-53, BT-78
    region: str = ""  # BT-39, BT-54, BT-79
    country: str = ""  # BT-40, BT-55, BT-80


def is_german(kind: Kind, seller: Address, buyer: Address) -> bool:
    """Return whether XRechnung's rules hold, which Peppol has too (DE-R-...) between Germans."""
    both = seller.country == buyer.country == "DE"
    return kind is Kind.XRECHNUNG or (kind is Kind.PEPPOL and both)


@dataclass(frozen=True, kw_only=True)
class Party:
    """The seller (BG-4) or the buyer (BG-7), with its contact (BG-6, BG-9)."""

    name: str  # BT-27, BT-44
    address: Address
    identifier: str = ""  # BT-29, BT-46
    registration: str = ""  # BT-30
    vat_number: str = ""  # BT-31, BT-48
    tax_number: str = ""  # BT-32
    legal_text: str = ""  # BT-33
    electronic_address: str = ""  # BT-34, BT-49
    electronic_address_scheme: str = ""
    contact_name: str = ""  # BT-41
    phone: str = ""  # BT-42
    email: str = ""  # BT-43, BT-58


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """The discount of a line (BG-27); where it is a percentage to the cent, that and its base."""

    amount: str  # BT-136
    base_amount: str = ""  # BT-137
    percentage: str = ""  # BT-138


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line (BG-25)."""

    identifier: str  # BT-126
    name: str  # BT-153
    description: str  # BT-154
    quantity: str  # BT-129
    unit_code: str  # BT-130
    unit_price: str  # BT-146
    allowance: Allowance | None
    net_amount: str  # BT-131
    category: str  # BT-151
    percentage: str  # BT-152


@dataclass(frozen=True, kw_only=True)
class Tax:
    """A row of the VAT breakdown (BG-23): there is one for each category and percentage."""

    category: str  # BT-118
    percentage: str  # BT-119
    taxable_amount: str  # BT-116
    tax_amount: str  # BT-117
    reason: str = ""  # BT-120
    reason_code: str = ""  # BT-121


@dataclass(frozen=True, kw_only=True)
class RateMeaning:
    """What a rate of the document means, or, without an ID, what its lines without a rate do."""

    tax_rate_id: str
    name: str
    category: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Invoice:
    """An invoice or a credit note as one kind of e-invoice says it."""

    kind: Kind
    document_type: DocumentType
    number: str  # BT-1
    issue_date: str  # BT-2
    due_date: str  # BT-9
    currency_code: str  # BT-5
    note: str  # BT-22
    buyer_reference: str  # BT-10
    order_reference: str  # BT-13
    corrected_number: str  # BT-25
    corrected_issue_date: str  # BT-26
    seller: Party
    buyer: Party
    delivery_date: str  # BT-72
    period_start: str  # BT-73
    period_end: str  # BT-74
    delivery_address: Address
    iban: str  # BT-84
    bic: str  # BT-86
    lines: tuple[Line, ...]
    taxes: tuple[Tax, ...]
    net_total: str  # BT-106, BT-109
    tax_total: str  # BT-110
    grand_total: str  # BT-112, BT-115
    tax_currency_code: str  # BT-6
    national_tax_total: str  # BT-111
    most_decimals: int
    meanings: tuple[RateMeaning, ...]

    @property
    def type_code(self) -> str:
        """The code of the list UNTDID 1001 (BT-3)."""
        return "381" if self.is_credit_note else "380"

    @property
    def is_credit_note(self) -> bool:
        return self.document_type == DocumentType.CREDIT_NOTE

    @property
    def payment_means_code(self) -> str:
        """The code of the list UNTDID 4461 (BT-81): a SEPA transfer, or one outside of SEPA."""
        return "58" if self.currency_code == "EUR" else "30"

    @property
    def categories(self) -> frozenset[str]:
        return frozenset(meaning.category for meaning in self.meanings)

    @property
    def is_outside_scope(self) -> bool:
        return TaxCategory.OUTSIDE_SCOPE in self.categories


def has_prefix(vat_number: str) -> bool:
    """Return whether a VAT number begins with its country, as BR-CO-09 wants."""
    prefix = vat_number[:2]
    return (is_country(prefix) and prefix not in _NO_PREFIXES) or prefix in _OTHER_PREFIXES
