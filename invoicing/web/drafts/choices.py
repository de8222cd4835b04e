"""What a person may choose from while writing a draft."""

from dataclasses import dataclass

from babel.numbers import get_currency_name
from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent_access.visible_text import mark_invisible
from invoicing.identifiers import read_uuid
from invoicing.languages import countries_by_name, locale_of, name_of_language, page_language
from invoicing.models import Company, Document, TaxRate, User
from invoicing.money import SUPPORTED_CURRENCIES
from invoicing.totals import DiscountType
from invoicing.web.drafts.customers import CustomerChoices, choose_customers
from invoicing.web.drafts.forms import INVOICE_CURRENCY, Options
from invoicing.web.drafts.typed import TypedDraft

NOTHING_CHOSEN = ("", gettext_lazy("Please choose"))
NO_TAX = ("", gettext_lazy("No tax"))
AS_ADDRESSED = ("", gettext_lazy("The customer’s"))  # noqa: RUF001  an apostrophe for readers
DISCOUNT_KINDS: Options = [
    (DiscountType.PERCENT, gettext_lazy("percent")),
    (DiscountType.AMOUNT, gettext_lazy("amount")),
]


@dataclass(frozen=True)
class Choices:
    """The options of each list, by the name of its field; `tax_currency` is that of the company."""

    customers: CustomerChoices
    options: dict[str, Options]
    tax_currency: str

    def label(self, name: str, value: str) -> str:
        """Return the label of a value in a list; for fields without a list, the value itself."""
        return str(dict(self.options.get(name, [])).get(value, value))


def choices_for(
    user: User, document: Document | None, typed: TypedDraft, *, search: str
) -> Choices:
    """Return what the person may choose, and what draft and form have already, even if inactive.

    `search` is the search for a customer.
    """
    chosen = typed.header["customer_id"]
    customers = choose_customers(user, document, search=search, chosen=chosen)
    company = Company.objects.first()
    tax_currency = company.tax_currency if company else ""
    return Choices(
        customers,
        {
            "customer_id": [NOTHING_CHOSEN, *customers.options],
            "currency_code": _currencies(document),
            "language": [
                (code, name_of_language(code)) for code, _name in settings.DOCUMENT_LANGUAGES
            ],
            "discount_type": DISCOUNT_KINDS,
            "tax_rate_id": [NO_TAX, *_tax_rates(document, typed)],
            "delivery_country": [AS_ADDRESSED, *countries_by_name()],
            "exchange_rate_base": _rate_bases(document, tax_currency),
        },
        tax_currency,
    )


def _rate_bases(document: Document | None, tax_currency: str) -> Options:
    """Return what an exchange rate may be the price of; the draft's own, even if it is former."""
    priced_in = tax_currency or _("the currency of your VAT")
    kept = document.exchange_rate_base if document else ""
    told = _("1 %(code)s, in the currency of the invoice") % {"code": tax_currency}
    codes = {tax_currency: told}
    if document and kept != document.currency_code:
        codes.setdefault(kept, f"1 {kept}")
    known = [(code, label) for code, label in codes.items() if code]
    of_invoice = _("1 of the invoice’s currency, in %(code)s") % {"code": priced_in}  # noqa: RUF001  an apostrophe for readers
    return [*known, (INVOICE_CURRENCY, of_invoice)]


def _tax_rates(document: Document | None, typed: TypedDraft) -> Options:
    chosen = filter(None, (read_uuid(line.get("tax_rate_id", "")) for line in typed.lines))
    used = document.lines.values("tax_rate") if document else []
    found = TaxRate.objects.filter(Q(is_active=True) | Q(pk__in=used) | Q(pk__in=list(chosen)))
    in_order = found.order_by("-percentage_ten_thousandths", "name", "pk")
    return [(str(each.id), _mark(each)) for each in in_order]


def _mark(rate: TaxRate) -> str:
    name = mark_invisible(str(rate))
    return name if rate.is_active else _("%(name)s (inactive)") % {"name": name}


def _currencies(document: Document | None) -> Options:
    # ISO 4217 may have withdrawn the draft's own. A browser would select the first one instead.
    codes = {*SUPPORTED_CURRENCIES, *([document.currency_code] if document else [])}
    return [
        (code, f"{code}, {get_currency_name(code, locale=locale_of(page_language()))}")
        for code in sorted(codes)
    ]
