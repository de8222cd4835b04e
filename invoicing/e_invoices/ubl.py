"""Writes an invoice as UBL 2.1, as Peppol BIS Billing 3 does."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from invoicing.e_invoices.elements import Content, element, write_xml
from invoicing.e_invoices.terms import DISCOUNT_CODE, Address, Invoice, Line, Party, Tax

_SCHEMA = "urn:oasis:names:specification:ubl:schema:xsd"
_PARTS = {
    "xmlns:cac": f"{_SCHEMA}:CommonAggregateComponents-2",
    "xmlns:cbc": f"{_SCHEMA}:CommonBasicComponents-2",
}
# The scheme of a VAT number, and of any other number of a tax authority.
_VAT, _OTHER_TAX = "VAT", "TAX"


def write_ubl(invoice: Invoice) -> bytes:
    """Return the XML of an invoice that lacks nothing."""
    name = "CreditNote" if invoice.is_credit_note else "Invoice"
    return write_xml(
        name,
        *_header(invoice),
        element("cac:AccountingSupplierParty", _party(invoice.seller)),
        element("cac:AccountingCustomerParty", _party(invoice.buyer)),
        _delivery(invoice),
        _payment_means(invoice),
        _tax_total(invoice),
        element(
            "cac:TaxTotal",
            element(
                "cbc:TaxAmount", invoice.national_tax_total, currencyID=invoice.tax_currency_code
            ),
        ),
        element(
            "cac:LegalMonetaryTotal",
            _amount(invoice, "LineExtensionAmount", invoice.net_total),
            _amount(invoice, "TaxExclusiveAmount", invoice.net_total),
            _amount(invoice, "TaxInclusiveAmount", invoice.grand_total),
            _amount(invoice, "PayableAmount", invoice.grand_total),
        ),
        *(_line(invoice, line) for line in invoice.lines),
        xmlns=f"{_SCHEMA}:{name}-2",
        **_PARTS,
    )


def _amount(invoice: Invoice, name: str, amount: str) -> Element | None:
    return element(f"cbc:{name}", amount, currencyID=invoice.currency_code)


def _header(invoice: Invoice) -> Iterator[Content]:
    """Yield what comes before the parties; a credit note has its due date with the payment."""
    is_credit_note = invoice.is_credit_note
    yield element("cbc:CustomizationID", invoice.kind.specification)
    yield element("cbc:ProfileID", invoice.kind.process)
    yield element("cbc:ID", invoice.number)
    yield element("cbc:IssueDate", invoice.issue_date)
    yield None if is_credit_note else element("cbc:DueDate", invoice.due_date)
    type_name = "cbc:CreditNoteTypeCode" if is_credit_note else "cbc:InvoiceTypeCode"
    yield element(type_name, invoice.type_code)
    yield element("cbc:Note", invoice.note)
    yield element("cbc:DocumentCurrencyCode", invoice.currency_code)
    yield element("cbc:TaxCurrencyCode", invoice.tax_currency_code)
    yield element("cbc:BuyerReference", invoice.buyer_reference)
    yield element(
        "cac:InvoicePeriod",
        element("cbc:StartDate", invoice.period_start),
        element("cbc:EndDate", invoice.period_end),
    )
    yield element("cac:OrderReference", element("cbc:ID", invoice.order_reference))
    yield element(
        "cac:BillingReference",
        element(
            "cac:InvoiceDocumentReference",
            element("cbc:ID", invoice.corrected_number),
            element("cbc:IssueDate", invoice.corrected_issue_date),
        ),
    )


def _party(party: Party) -> Element | None:
    return element(
        "cac:Party",
        element(
            "cbc:EndpointID", party.electronic_address, schemeID=party.electronic_address_scheme
        ),
        element("cac:PartyIdentification", element("cbc:ID", party.identifier)),
        element("cac:PostalAddress", *_address(party.address)),
        _tax_scheme(party.vat_number, _VAT),
        _tax_scheme(party.tax_number, _OTHER_TAX),
        element(
            "cac:PartyLegalEntity",
            element("cbc:RegistrationName", party.name),
            element("cbc:CompanyID", party.registration),
            element("cbc:CompanyLegalForm", party.legal_text),
        ),
        element(
            "cac:Contact",
            element("cbc:Name", party.contact_name),
            element("cbc:Telephone", party.phone),
            element("cbc:ElectronicMail", party.email),
        ),
    )


def _address(address: Address) -> Iterator[Content]:
    yield element("cbc:StreetName", address.street)
    yield element("cbc:AdditionalStreetName", address.address_line)
    yield element("cbc:CityName", address.city)
    yield element("cbc:PostalZone", address.postcode)
    yield element("cbc:CountrySubentity", address.region)
    yield element("cac:Country", element("cbc:IdentificationCode", address.country))


def _tax_scheme(number: str, scheme: str) -> Element | None:
    return (
        element("cac:PartyTaxScheme", element("cbc:CompanyID", number), _scheme(scheme))
        if number
        else None
    )


def _scheme(scheme: str = _VAT) -> Element | None:
    return element("cac:TaxScheme", element("cbc:ID", scheme))


def _delivery(invoice: Invoice) -> Element | None:
    return element(
        "cac:Delivery",
        element("cbc:ActualDeliveryDate", invoice.delivery_date),
        element(
            "cac:DeliveryLocation", element("cac:Address", *_address(invoice.delivery_address))
        ),
    )


def _payment_means(invoice: Invoice) -> Element | None:
    if not invoice.iban:
        return None
    return element(
        "cac:PaymentMeans",
        element("cbc:PaymentMeansCode", invoice.payment_means_code),
        element("cbc:PaymentDueDate", invoice.due_date) if invoice.is_credit_note else None,
        element("cbc:PaymentID", invoice.number),
        element(
            "cac:PayeeFinancialAccount",
            element("cbc:ID", invoice.iban),
            element("cbc:Name", invoice.seller.name),
            element("cac:FinancialInstitutionBranch", element("cbc:ID", invoice.bic)),
        ),
    )


def _tax_total(invoice: Invoice) -> Element | None:
    return element(
        "cac:TaxTotal",
        _amount(invoice, "TaxAmount", invoice.tax_total),
        *(_tax(invoice, tax) for tax in invoice.taxes),
    )


def _tax(invoice: Invoice, tax: Tax) -> Element | None:
    return element(
        "cac:TaxSubtotal",
        _amount(invoice, "TaxableAmount", tax.taxable_amount),
        _amount(invoice, "TaxAmount", tax.tax_amount),
        element(
            "cac:TaxCategory",
            element("cbc:ID", tax.category),
            element("cbc:Percent", tax.percentage),
            element("cbc:TaxExemptionReasonCode", tax.reason_code),
            element("cbc:TaxExemptionReason", tax.reason),
            _scheme(),
        ),
    )


def _line(invoice: Invoice, line: Line) -> Element | None:
    kind, counted = (
        ("CreditNote", "Credited") if invoice.is_credit_note else ("Invoice", "Invoiced")
    )
    return element(
        f"cac:{kind}Line",
        element("cbc:ID", line.identifier),
        element(f"cbc:{counted}Quantity", line.quantity, unitCode=line.unit_code),
        _amount(invoice, "LineExtensionAmount", line.net_amount),
        _allowance(invoice, line),
        element(
            "cac:Item",
            element("cbc:Description", line.description),
            element("cbc:Name", line.name),
            element(
                "cac:ClassifiedTaxCategory",
                element("cbc:ID", line.category),
                element("cbc:Percent", line.percentage),
                _scheme(),
            ),
        ),
        element("cac:Price", _amount(invoice, "PriceAmount", line.unit_price)),
    )


def _allowance(invoice: Invoice, line: Line) -> Element | None:
    allowance = line.allowance
    if allowance is None:
        return None
    return element(
        "cac:AllowanceCharge",
        element("cbc:ChargeIndicator", "false"),
        element("cbc:AllowanceChargeReasonCode", DISCOUNT_CODE),
        element("cbc:MultiplierFactorNumeric", allowance.percentage),
        _amount(invoice, "Amount", allowance.amount),
        _amount(invoice, "BaseAmount", allowance.base_amount),
    )
