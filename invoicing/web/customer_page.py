"""The page of one customer: its facts, its newest documents, and what was issued to it by year."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from invoicing.access import EXPORT_PERMISSIONS, WRITE_PERMISSIONS, Permission
from invoicing.electronic_addresses import schemes
from invoicing.languages import name_of_language, page_language
from invoicing.models import Customer, Document, DocumentType, User
from invoicing.paper.formats import Formats
from invoicing.rights import may_change_customers
from invoicing.services.issued_totals import TooManyError, Total, read_customer_totals
from invoicing.web.issued_counts import count_issued
from invoicing.web.pages import DONE, SignedInRequest, page

DOCUMENTS_SHOWN = 5

# A year, and a currency with the decimals that it had.
Row = tuple[int, str, int]


@page(Permission.VIEW_CUSTOMER)
def show_customer(request: SignedInRequest, pk: UUID) -> HttpResponse:
    user = request.user
    customer = Customer.objects.visible_to(user).find(pk)
    context: dict[str, Any] = {
        "customer": customer,
        "address": customer.format_address(page_language()),
        "parts": [(label, text) for label, text in _parts_of(customer) if text],
        "managers": customer.account_managers.order_by("name"),
        "may_view_documents": user.has_perm(Permission.VIEW_DOCUMENT),
        "may_export": user.has_perms(EXPORT_PERMISSIONS),
        "may_write": customer.is_active and user.has_perms(WRITE_PERMISSIONS),
        "may_change": may_change_customers(user),
        "is_done": DONE in request.GET,
    }
    if context["may_view_documents"]:
        context |= _describe_documents(user, customer) | _describe_years(customer)
    return render(request, "invoicing/customer.html", context)


def _describe_documents(user: User, customer: Customer) -> dict[str, Any]:
    """Describe the newest documents of the customer."""
    newest = Document.objects.visible_to(user).filter(customer=customer).order_by("-id")
    found = list(newest.select_related("corrects")[: DOCUMENTS_SHOWN + 1])
    return {
        "documents": [_describe_document(each) for each in found[:DOCUMENTS_SHOWN]],
        "has_more": len(found) > DOCUMENTS_SHOWN,
    }


def _describe_document(document: Document) -> dict[str, Any]:
    formats = Formats(page_language(), document.currency_code, document.minor_unit)
    return {
        "document": document,
        "issue_date": formats.short_day(document.issue_date),
        "grand_total": formats.money(document.grand_total),
    }


def _describe_years(customer: Customer) -> dict[str, Any]:
    """Describe what was issued in each year, the latest first; credit notes are subtracted.

    `years` is None if that is too much to add up while a page waits.
    """
    try:
        totals = read_customer_totals(customer)
    except TooManyError:
        return {"years": None}
    rows: dict[Row, dict[DocumentType, Total]] = {}
    for document_type, of_type in totals.items():
        for group, total in of_type.items():
            row = rows.setdefault((group.month.year, *group[1:]), {})
            row[document_type] = row.get(document_type, Total()) + total
    ordered = sorted(rows, key=lambda row: (-row[0], row[1:]))
    return {"years": [_describe_year(row, rows[row]) for row in ordered]}


def _describe_year(row: Row, totals: dict[DocumentType, Total]) -> dict[str, Any]:
    year, currency_code, minor_unit = row
    invoices = totals.get(DocumentType.INVOICE, Total())
    notes = totals.get(DocumentType.CREDIT_NOTE, Total())
    formats = Formats(page_language(), currency_code, minor_unit)
    return {
        "year": str(year),
        "code": currency_code,
        "counts": count_issued(invoices.count, notes.count),
        "total": formats.money(invoices.amount - notes.amount),
    }


def _parts_of(customer: Customer) -> Iterator[tuple[str, str]]:
    """Yield what else the company keeps of a customer, with its label; empty if it is not set."""
    yield _("Customer number"), customer.customer_number
    yield _("Tax number"), customer.tax_number
    yield _("E-mail address"), customer.email
    yield _("Electronic address"), customer.electronic_address
    scheme = customer.electronic_address_scheme
    yield _("Its scheme"), f"{schemes().get(scheme, '')} ({scheme})" if scheme else ""
    yield _("E-invoice"), customer.get_e_invoice_display()
    yield _("Buyer reference"), customer.buyer_reference
    yield _("Language"), name_of_language(customer.language) if customer.language else ""
    yield _("Currency"), customer.currency_code
    yield _("Days to pay"), "" if customer.payment_days is None else str(customer.payment_days)
    yield _("Before issuing"), _("Always warned of") if customer.is_watched else ""
