"""What is missing where it is needed, with a link for who may mend it, or whom to ask."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from invoicing.administration.setup import may_take_rates
from invoicing.models import Company, Customer, Document, DocumentType, TaxRate, User
from invoicing.rights import cache_is_owner, may_administer, may_create_company
from invoicing.services.issue_warnings import check_company
from invoicing.services.numbering import read_numbering
from invoicing.web.askable import whom_to_ask
from invoicing.web.setup.steps import address_of_new_customer


@dataclass(frozen=True)
class Gap:
    """A sentence about what is missing; `url` is "" for somebody who may not mend it."""

    told: str
    link: str
    url: str


def gaps_of_draft(user: User) -> list[Gap]:
    """Return what a person lacks to write a draft."""
    cache_is_owner(user)
    gaps = []
    company = Company.objects.first()
    if company is None:
        url = reverse("admin:invoices_company_add") if may_create_company(user) else ""
        told = _("There is no company yet: a draft is saved, but cannot be shown or issued.")
        gaps.append(Gap(told, _("Add the company"), url))
    if not Customer.objects.visible_to(user).filter(is_active=True).exists():
        may_add = may_administer(user, "invoices.add_customer")
        url = address_of_new_customer() if may_add else ""
        told = _("There is no customer yet whom you may invoice.")
        gaps.append(Gap(told, _("Add a customer"), url))
    is_small = company is not None and company.is_small_business
    if not is_small and not TaxRate.objects.filter(is_active=True).exists():
        url = reverse("setup-taxes") if company and may_take_rates(user) else ""
        told = _("There is no tax rate yet, so every line is without tax.")
        gaps.append(Gap(told, _("Add tax rates"), url))
    return gaps


def first_number_of(user: User, document: Document) -> Gap | None:
    """Return which number a document would begin its series with; None once that has begun."""
    if document.is_issued:
        return None
    year = document.issue_date.year
    shown = read_numbering(year)[DocumentType(document.type)]
    if shown.is_begun:
        return None
    number = shown.style.write(year, shown.next_value)
    may_change = may_administer(user, "invoices.change_numberseries")
    url = reverse("admin:invoices_numberseries_changelist") if may_change else ""
    told = _("It gets the number %(number)s, the first of its series.") % {"number": number}
    return Gap(told, _("Change how documents are numbered"), url)


def whom_to_ask_about(user: User, document: Document) -> str:
    """Return whom to ask for what the company lacks; "" if it lacks nothing, or they may mend it.

    The draft of a correction has the company of its invoice, which stays.
    """
    if document.corrects_id or not any(check_company(document.seller)):
        return ""
    return "" if may_administer(user, "invoices.change_company") else whom_to_ask()


def describe(gaps: list[Gap]) -> dict[str, object]:
    """Return the values of the template: whom to ask is read only for somebody who has to."""
    ask = whom_to_ask() if any(not each.url for each in gaps) else ""
    return {"gaps": gaps, "ask": ask}
