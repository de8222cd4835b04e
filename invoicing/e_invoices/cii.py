"""Writes an invoice as CII (UN/CEFACT Cross Industry Invoice), as Factur-X and XRechnung do."""

from xml.etree.ElementTree import Element

from invoicing.e_invoices.elements import element, write_xml
from invoicing.e_invoices.terms import DISCOUNT_CODE, Address, Invoice, Line, Party, Tax

_NAMESPACES = {
    "xmlns:rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "xmlns:ram": "urn:un:unece:uncefact:data:standard:"
    "ReusableAggregateBusinessInformationEntity:100",
    "xmlns:qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
    "xmlns:udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
}
# The code of a date as year, month and day, in the list UNTDID 2379.
_DAY = "102"


def write_cii(invoice: Invoice) -> bytes:
    """Return the XML of an invoice that lacks nothing."""
    return write_xml(
        "rsm:CrossIndustryInvoice",
        element(
            "rsm:ExchangedDocumentContext",
            _identifier(
                "ram:BusinessProcessSpecifiedDocumentContextParameter", invoice.kind.process
            ),
            _identifier(
                "ram:GuidelineSpecifiedDocumentContextParameter", invoice.kind.specification
            ),
        ),
        element(
            "rsm:ExchangedDocument",
            element("ram:ID", invoice.number),
            element("ram:TypeCode", invoice.type_code),
            _day("ram:IssueDateTime", invoice.issue_date),
            element("ram:IncludedNote", element("ram:Content", invoice.note)),
        ),
        element(
            "rsm:SupplyChainTradeTransaction",
            *(_line(line) for line in invoice.lines),
            _agreement(invoice),
            _delivery(invoice),
            _settlement(invoice),
        ),
        **_NAMESPACES,
    )


def _identifier(name: str, identifier: str) -> Element | None:
    return element(name, element("ram:ID", identifier))


def _day(name: str, day: str, *, kind: str = "udt") -> Element | None:
    return element(name, element(f"{kind}:DateTimeString", day.replace("-", ""), format=_DAY))


def _line(line: Line) -> Element | None:
    return element(
        "ram:IncludedSupplyChainTradeLineItem",
        element("ram:AssociatedDocumentLineDocument", element("ram:LineID", line.identifier)),
        element(
            "ram:SpecifiedTradeProduct",
            element("ram:Name", line.name),
            element("ram:Description", line.description),
        ),
        element(
            "ram:SpecifiedLineTradeAgreement",
            element("ram:NetPriceProductTradePrice", element("ram:ChargeAmount", line.unit_price)),
        ),
        element(
            "ram:SpecifiedLineTradeDelivery",
            element("ram:BilledQuantity", line.quantity, unitCode=line.unit_code),
        ),
        element(
            "ram:SpecifiedLineTradeSettlement",
            element(
                "ram:ApplicableTradeTax",
                element("ram:TypeCode", "VAT"),
                element("ram:CategoryCode", line.category),
                element("ram:RateApplicablePercent", line.percentage),
            ),
            _allowance(line),
            element(
                "ram:SpecifiedTradeSettlementLineMonetarySummation",
                element("ram:LineTotalAmount", line.net_amount),
            ),
        ),
    )


def _allowance(line: Line) -> Element | None:
    allowance = line.allowance
    if allowance is None:
        return None
    return element(
        "ram:SpecifiedTradeAllowanceCharge",
        element("ram:ChargeIndicator", element("udt:Indicator", "false")),
        element("ram:CalculationPercent", allowance.percentage),
        element("ram:BasisAmount", allowance.base_amount),
        element("ram:ActualAmount", allowance.amount),
        element("ram:ReasonCode", DISCOUNT_CODE),
    )


def _agreement(invoice: Invoice) -> Element | None:
    return element(
        "ram:ApplicableHeaderTradeAgreement",
        element("ram:BuyerReference", invoice.buyer_reference),
        _party("ram:SellerTradeParty", invoice.seller),
        _party("ram:BuyerTradeParty", invoice.buyer),
        element(
            "ram:BuyerOrderReferencedDocument",
            element("ram:IssuerAssignedID", invoice.order_reference),
        ),
    )


def _party(name: str, party: Party) -> Element | None:
    return element(
        name,
        element("ram:ID", party.identifier),
        element("ram:Name", party.name),
        element("ram:Description", party.legal_text),
        _identifier("ram:SpecifiedLegalOrganization", party.registration),
        element(
            "ram:DefinedTradeContact",
            element("ram:PersonName", party.contact_name),
            element(
                "ram:TelephoneUniversalCommunication", element("ram:CompleteNumber", party.phone)
            ),
            element("ram:EmailURIUniversalCommunication", element("ram:URIID", party.email)),
        ),
        _address(party.address),
        element(
            "ram:URIUniversalCommunication",
            element(
                "ram:URIID", party.electronic_address, schemeID=party.electronic_address_scheme
            ),
        ),
        element("ram:SpecifiedTaxRegistration", element("ram:ID", party.vat_number, schemeID="VA")),
        element("ram:SpecifiedTaxRegistration", element("ram:ID", party.tax_number, schemeID="FC")),
    )


def _address(address: Address) -> Element | None:
    return element(
        "ram:PostalTradeAddress",
        element("ram:PostcodeCode", address.postcode),
        element("ram:LineOne", address.street),
        element("ram:LineTwo", address.address_line),
        element("ram:CityName", address.city),
        element("ram:CountryID", address.country),
        element("ram:CountrySubDivisionName", address.region),
    )


def _delivery(invoice: Invoice) -> Element:
    """Return the delivery, which CII has to have even where nothing is said of it."""
    name = "ram:ApplicableHeaderTradeDelivery"
    made = element(
        name,
        element("ram:ShipToTradeParty", _address(invoice.delivery_address)),
        element(
            "ram:ActualDeliverySupplyChainEvent",
            _day("ram:OccurrenceDateTime", invoice.delivery_date),
        ),
    )
    return Element(name) if made is None else made


def _settlement(invoice: Invoice) -> Element | None:
    return element(
        "ram:ApplicableHeaderTradeSettlement",
        element("ram:PaymentReference", invoice.number),
        element("ram:TaxCurrencyCode", invoice.tax_currency_code),
        element("ram:InvoiceCurrencyCode", invoice.currency_code),
        _payment_means(invoice),
        *(_tax(tax) for tax in invoice.taxes),
        element(
            "ram:BillingSpecifiedPeriod",
            _day("ram:StartDateTime", invoice.period_start),
            _day("ram:EndDateTime", invoice.period_end),
        ),
        element("ram:SpecifiedTradePaymentTerms", _day("ram:DueDateDateTime", invoice.due_date)),
        _totals(invoice),
        element(
            "ram:InvoiceReferencedDocument",
            element("ram:IssuerAssignedID", invoice.corrected_number),
            _day("ram:FormattedIssueDateTime", invoice.corrected_issue_date, kind="qdt"),
        ),
    )


def _payment_means(invoice: Invoice) -> Element | None:
    if not invoice.iban:
        return None
    return element(
        "ram:SpecifiedTradeSettlementPaymentMeans",
        element("ram:TypeCode", invoice.payment_means_code),
        element(
            "ram:PayeePartyCreditorFinancialAccount",
            element("ram:IBANID", invoice.iban),
            element("ram:AccountName", invoice.seller.name),
        ),
        element(
            "ram:PayeeSpecifiedCreditorFinancialInstitution", element("ram:BICID", invoice.bic)
        ),
    )


def _tax(tax: Tax) -> Element | None:
    return element(
        "ram:ApplicableTradeTax",
        element("ram:CalculatedAmount", tax.tax_amount),
        element("ram:TypeCode", "VAT"),
        element("ram:ExemptionReason", tax.reason),
        element("ram:BasisAmount", tax.taxable_amount),
        element("ram:CategoryCode", tax.category),
        element("ram:ExemptionReasonCode", tax.reason_code),
        element("ram:RateApplicablePercent", tax.percentage),
    )


def _totals(invoice: Invoice) -> Element | None:
    return element(
        "ram:SpecifiedTradeSettlementHeaderMonetarySummation",
        element("ram:LineTotalAmount", invoice.net_total),
        element("ram:TaxBasisTotalAmount", invoice.net_total),
        element("ram:TaxTotalAmount", invoice.tax_total, currencyID=invoice.currency_code),
        element(
            "ram:TaxTotalAmount",
            invoice.national_tax_total,
            currencyID=invoice.tax_currency_code,
        ),
        element("ram:GrandTotalAmount", invoice.grand_total),
        element("ram:DuePayableAmount", invoice.grand_total),
    )
