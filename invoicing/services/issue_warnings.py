"""What a person should look at twice before an invoice is issued."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from invoicing.models import (
    Company,
    Customer,
    Document,
    DocumentType,
    NumberSeries,
    TaxCategory,
    TaxRate,
)
from invoicing.services.document_facts import Facts
from invoicing.services.numbering import read_format
from invoicing.vat_area import EU_VAT_AREA, vat_territory
from invoicing.vat_numbers import country_of_vat_number, is_vat_number_valid

YEAR = timedelta(days=366)
# The categories whose invoices must have the buyer's VAT number.
NAMING_BUYER = frozenset({TaxCategory.REVERSE_CHARGE, TaxCategory.INTRA_COMMUNITY})


class Check(TextChoices):
    """What is missing or cannot be right, by the record in which it is changed, and in words.

    The law is Directive 2006/112/EC, Article 226; EN 16931 demands the same of e-invoices.
    """

    COMPANY_STREET = "company.street", _("The street of your company is missing.")
    COMPANY_CITY = "company.city", _("The city of your company is missing.")
    COMPANY_COUNTRY = "company.country", _("The country of your company is missing.")
    COMPANY_TAX_NUMBER = (
        "company.tax_number",
        _("Your company has neither a VAT number nor a tax number."),
    )
    COMPANY_VAT_NUMBER = (
        "company.vat_number",
        _("The VAT number of your company is not a valid one of its country."),
    )
    COMPANY_BANK = "company.iban", _("The bank details of your company are missing.")
    CUSTOMER_ADDRESS = "customer.address", _("The address of the customer is missing.")
    CUSTOMER_COUNTRY = "customer.country", _("The country of the customer is missing.")
    CUSTOMER_NO_VAT_NUMBER = (
        "customer.no_vat_number",
        _("The VAT number of the customer is missing, which this tax rate needs."),
    )
    CUSTOMER_VAT_NUMBER = (
        "customer.vat_number",
        _("The VAT number of the customer is not a valid one of its country."),
    )
    TAXES_UNKNOWN = (
        "taxes.category",
        _("A tax rate has no category yet, so that invoices cannot name it as the law does."),
    )
    TAXES_UNTAXED = (
        "taxes.untaxed",
        _("Lines without tax give no reason: choose a rate of 0 % instead, or say what they mean."),
    )
    DRAFT_SMALL_BUSINESS = (
        "draft.tax_total",
        _("Your company is a small business, which charges no tax, but tax is charged."),
    )
    DRAFT_INTRA_COMMUNITY = (
        "draft.intra_community",
        _("The countries of this draft do not fit an intra-community supply within the EU."),
    )
    DRAFT_EXPORT = (
        "draft.export",
        _(
            "The countries of this draft do not fit an export: the goods stay in the EU, or at"
            " home."
        ),
    )
    DRAFT_REVERSE_CHARGE = (
        "draft.reverse_charge",
        _("Reverse charge fits customers in the EU; to others, a rate outside the scope is usual."),
    )
    DRAFT_NO_SUPPLY_DATE = (
        "draft.supply_date",
        _("Intra-community supply needs the date of supply, which is missing."),
    )
    DRAFT_SUPPLY_DATE = (
        "draft.odd_supply_date",
        _("The date of supply is more than a year from the issue date."),
    )
    DRAFT_EXCHANGE_RATE = (
        "draft.exchange_rate",
        _("The exchange rate is missing: tax must be told in the currency of your company too."),
    )

    @property
    def record(self) -> str:
        """The kind of record in which a person changes it."""
        return self.value.partition(".")[0]


@dataclass(frozen=True)
class Warnings:
    """What is unusual about issuing a draft; nothing of it forbids that.

    `watched_from` is the amount from which the owner wants documents checked, if the total reaches
    it, in the minor unit of the draft, and `is_watched` that of all documents of the customer.
    `last_issue_date` is that of the last number in the series, if it is later than the draft's;
    `is_due_late` tells that there is more than a year until the due date.
    """

    checks: list[Check]
    watched_from: int | None
    is_watched: bool
    is_future: bool
    is_other_year: bool
    is_due_late: bool
    last_issue_date: date | None


def find_warnings(draft: Document, facts: Facts, *, today: date) -> Warnings:
    """Return what is unusual about issuing this draft, which has these facts.

    `today` is the date in the person's time zone.
    """
    return Warnings(
        checks=list(_check(draft, facts)),
        watched_from=_watched_from(draft),
        is_watched=draft.customer.is_watched,
        is_future=draft.issue_date > today,
        is_other_year=draft.issue_date.year != today.year,
        is_due_late=draft.due_date - draft.issue_date > YEAR,
        last_issue_date=_later_issue_date(draft),
    )


def check_company(company: Company) -> Iterator[Check]:
    """Yield what is missing of the company, and of what it says about taxes, before any draft."""
    yield from _check_company(company)
    if TaxRate.objects.filter(is_active=True, category="").exists():
        yield Check.TAXES_UNKNOWN
    if not _says_why_untaxed(company):
        yield Check.TAXES_UNTAXED


def _check(draft: Document, facts: Facts) -> Iterator[Check]:
    """Yield what to check in a draft, whose facts were just read.

    The draft of a correction has the parties and taxes of an issued invoice, which stay.
    """
    if draft.corrects_id:
        return
    categories = {row.get("category", "") for row in facts["tax_breakdown"]}
    yield from _check_company(draft.seller)
    yield from _check_customer(draft.customer, facts, categories)
    if "" in categories:
        yield Check.TAXES_UNKNOWN
    is_taxed = all(line["tax_rate_id"] for line in facts["line_items"])
    if not is_taxed and not _says_why_untaxed(draft.seller):
        yield Check.TAXES_UNTAXED
    if facts["tax_total"] and draft.seller.is_small_business:
        yield Check.DRAFT_SMALL_BUSINESS
    yield from _check_territories(draft, categories)
    yield from _check_supply(draft, categories)
    if _lacks_exchange_rate(draft.seller, facts):
        yield Check.DRAFT_EXCHANGE_RATE


def _check_company(company: Company) -> Iterator[Check]:
    if not company.street:
        yield Check.COMPANY_STREET
    if not company.city:
        yield Check.COMPANY_CITY
    if not company.country:
        yield Check.COMPANY_COUNTRY
    if not company.vat_number and not company.tax_number:
        yield Check.COMPANY_TAX_NUMBER
    if company.vat_number and not is_vat_number_valid(company.country, company.vat_number):
        yield Check.COMPANY_VAT_NUMBER
    if not company.iban:
        yield Check.COMPANY_BANK


def _says_why_untaxed(company: Company) -> bool:
    return company.is_small_business or bool(company.untaxed_category)


def _check_customer(customer: Customer, facts: Facts, categories: set[str]) -> Iterator[Check]:
    if not facts["customer"]["address"]:
        yield Check.CUSTOMER_ADDRESS
    elif not customer.country:
        yield Check.CUSTOMER_COUNTRY
    if not customer.vat_number and categories & NAMING_BUYER:
        yield Check.CUSTOMER_NO_VAT_NUMBER
    if customer.vat_number and not is_vat_number_valid(customer.country, customer.vat_number):
        yield Check.CUSTOMER_VAT_NUMBER


def _check_territories(draft: Document, categories: set[str]) -> Iterator[Check]:
    """Yield the categories that the territories of a draft rule out, if all are known.

    Articles 138 (intra-community supply) and 146 (export) ask where goods go, not where the buyer
    is. Articles 44 and 196 (reverse charge) ask where the buyer is, or whose VAT number it uses;
    within one country reverse charge is lawful for some supplies (Articles 199 and 199a).
    """
    seller, buyer = draft.seller, draft.customer
    goods_to = draft.delivery_country or buyer.country
    if not seller.country or not goods_to:
        return
    origin = vat_territory(seller.country, seller.vat_number)
    destination = vat_territory(goods_to, buyer.vat_number)
    is_within_eu = {origin, destination} <= EU_VAT_AREA
    if TaxCategory.INTRA_COMMUNITY in categories and not (is_within_eu and origin != destination):
        yield Check.DRAFT_INTRA_COMMUNITY
    if TaxCategory.EXPORT in categories and (is_within_eu or origin == destination):
        yield Check.DRAFT_EXPORT
    places = {buyer.country, country_of_vat_number(buyer.vat_number, buyer.country)}
    is_buyer_outside = EU_VAT_AREA.isdisjoint(map(vat_territory, places - {""}))
    if TaxCategory.REVERSE_CHARGE in categories and origin in EU_VAT_AREA and is_buyer_outside:
        yield Check.DRAFT_REVERSE_CHARGE


def _check_supply(draft: Document, categories: set[str]) -> Iterator[Check]:
    if not draft.supply_date:
        if TaxCategory.INTRA_COMMUNITY in categories:
            yield Check.DRAFT_NO_SUPPLY_DATE
    elif abs(draft.supply_date - draft.issue_date) > YEAR:
        yield Check.DRAFT_SUPPLY_DATE


def _lacks_exchange_rate(company: Company, facts: Facts) -> bool:
    """Return whether tax is charged in a currency other than that in which it is declared."""
    is_foreign = company.tax_currency not in {"", facts["currency_code"]}
    return is_foreign and bool(facts["tax_total"]) and "national_tax_total" not in facts


def _watched_from(draft: Document) -> int | None:
    least: int | None = draft.seller.watched_amounts.get(draft.currency_code)
    return least if least is not None and draft.grand_total >= least else None


def _later_issue_date(draft: Document) -> date | None:
    """Return the date and no more: the person may not be allowed to see that document."""
    year = read_format(DocumentType(draft.type)).series_year(draft.issue_date.year)
    series = NumberSeries.objects.filter(type=draft.type, year=year)
    # A subquery, since with a join the whole series would be read and sorted.
    numbered = Document.objects.filter(series=series.values("pk")[:1]).order_by("-series_value")
    last_date = numbered.values_list("issue_date", flat=True).first()
    return last_date if last_date and last_date > draft.issue_date else None
