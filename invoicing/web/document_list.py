"""The list of documents: its tabs, filters, order and totals, all of which its address holds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from invoicing.access import EXPORT_PERMISSIONS, Permission
from invoicing.document_approvals import find_waiting_documents
from invoicing.document_lists.filters import Tab
from invoicing.document_lists.orders import Order
from invoicing.document_lists.pages import Sorting, find_by_words, find_sorted
from invoicing.document_lists.selection import MOST_READ, Selected
from invoicing.document_lists.summary import Summary, summarize
from invoicing.identifiers import read_uuid
from invoicing.languages import page_language
from invoicing.models import Customer, Document, User
from invoicing.paper.formats import Formats, local_date
from invoicing.search.paging import PageRequest
from invoicing.search.records import find_customers
from invoicing.web.document_filters import (
    Chosen,
    FilterForm,
    describe_filters,
    offer_writers,
    read_filters,
)
from invoicing.web.document_rows import describe_row
from invoicing.web.listings import PAGE_LENGTH, Listing, build_query, read_search
from invoicing.web.pages import SignedInRequest, page

TABS = {
    Tab.ALL: _("All"),
    Tab.WAITING: _("Waiting"),
    Tab.DRAFTS: _("Drafts"),
    Tab.ISSUED: _("Issued"),
    Tab.CREDIT_NOTES: _("Credit notes"),
}
ORDERS = {
    Order.WRITTEN: _("Newest"),
    Order.NUMBER: _("Number"),
    Order.DAY: _("Issue date"),
    Order.CUSTOMER: _("Customer"),
    Order.TOTAL: _("Total"),
}
# What an empty list says: to whoever sees all documents, and to whoever sees some.
NOTHING = {
    Tab.ALL: (_("No document was found."), _("No document that you may see was found.")),
    Tab.WAITING: (_("Nothing is waiting for you."), _("Nothing is waiting for you.")),
    Tab.DRAFTS: (_("No draft was found."), _("No draft that you may see was found.")),
    Tab.ISSUED: (
        _("No issued document was found."),
        _("No issued document that you may see was found."),
    ),
    Tab.CREDIT_NOTES: (
        _("No credit note was found."),
        _("No credit note that you may see was found."),
    ),
}
# In these directions columns are sorted first.
FIRST_DESCENDING = {Order.WRITTEN, Order.NUMBER, Order.DAY, Order.TOTAL}
CUSTOMERS_FOUND = 20


@dataclass(frozen=True)
class Address:
    """What the address of the list says, as far as it was understood."""

    chosen: Chosen
    search: str
    tab: Tab
    sorting: Sorting

    @property
    def kept(self) -> dict[str, str]:
        """The parameters that links to other pages of the same list have."""
        sort = _name_sorting(self.sorting.order, is_descending=self.sorting.is_descending)
        return {"search": self.search, "status": self.tab, **self.chosen.kept, "sort": sort}

    def link(self, **changes: str) -> str:
        """Return the relative link to the list with these changes, at its beginning."""
        return build_query(**(self.kept | changes))


def _name_sorting(order: Order, *, is_descending: bool) -> str:
    if order == Order.WRITTEN:
        return ""
    return f"-{order}" if is_descending else str(order)


def read_address(data: QueryDict) -> Address:
    status, sort = data.get("status", ""), data.get("sort", "")
    name = sort.removeprefix("-")
    order = Order(name) if name in set(Order) else Order.WRITTEN
    is_descending = order == Order.WRITTEN or sort.startswith("-")
    after = read_uuid(data.get("after", ""))
    return Address(
        read_filters(data),
        read_search(data),
        Tab(status) if status in set(Tab) else Tab.ALL,
        Sorting(order=order, is_descending=is_descending, after=after),
    )


@page(Permission.VIEW_DOCUMENT)
def list_documents(request: SignedInRequest) -> HttpResponse:
    now = timezone.now()
    address = read_address(request.GET)
    waiting = find_waiting_documents(request.user, now=now)
    selected = Selected(request.user, address.chosen.filters, address.tab, waiting.keys())
    listing = _read_page(selected, address)
    prefetch_related_objects(listing.records, "corrects", "created_by")
    # The words of a search have no counts.
    summary = None if address.search else summarize(selected)
    is_newest_first = address.sorting.order == Order.WRITTEN
    context = {
        "listing": listing,
        "rows": [_row(each, address, waiting, now=now) for each in listing.records],
        "tabs": list(_tabs(address, summary)),
        "totals": _describe_totals(summary),
        "count": _describe_count(summary.counts[address.tab]) if summary else "",
        "nothing": NOTHING[address.tab][not selected.sees_all],
        "sees_all": selected.sees_all,
        "is_narrowed": bool(address.search or address.tab or address.chosen.kept),
        "is_filtered": bool(address.chosen.kept),
        "problems": address.chosen.problems,
        "sorts": list(_sorts(address)),
        "order_label": ORDERS[address.sorting.order],
        "back_label": _("Newest") if is_newest_first else _("First page"),
        "next_label": _("Older") if is_newest_first else _("Next"),
        "periods": list(_periods(address, local_date(now, request.user))),
        "may_create": request.user.has_perm(Permission.MANAGE),
        "may_view_customers": request.user.has_perm(Permission.VIEW_CUSTOMER),
        "export_href": _link_to_export(request.user, address),
        **_describe_chips(request, address),
    }
    return render(request, "invoicing/documents.html", context)


def _read_page(selected: Selected, address: Address) -> Listing[Document]:
    after = address.sorting.after
    if address.search:
        page_request = PageRequest(
            search=address.search, after=after, limit=PAGE_LENGTH, newest_first=True
        )
        records, cursor = find_by_words(selected, page_request)
    else:
        records, cursor = find_sorted(selected, address.sorting, PAGE_LENGTH)
    back_href = address.link() if after else None
    next_href = address.link(after=str(cursor)) if cursor else None
    return Listing(records, address.search, back_href, next_href)


def _row(
    document: Document, address: Address, waiting: Mapping[UUID, datetime], *, now: datetime
) -> dict[str, Any]:
    ends_at = waiting.get(document.pk)
    seconds = max(0, int((ends_at - now).total_seconds())) if ends_at else 0
    return {
        **describe_row(document),
        "is_waiting": ends_at is not None,
        "seconds_left": seconds,
        "time_left": _("%(minutes)s min %(seconds)s s")
        % {"minutes": seconds // 60, "seconds": seconds % 60},
        "writer_href": address.link(writer=str(document.connection_id or document.created_by_id)),
    }


def _tabs(address: Address, summary: Summary | None) -> Iterator[tuple[str, Any, str, bool]]:
    for tab, label in TABS.items():
        count = _format_count(summary.counts[tab]) if summary else ""
        yield address.link(status=tab), label, count, tab == address.tab


def _format_count(count: int | None) -> str:
    """Write a count: more than MOST_READ as "10,000+", one that nobody counted as nothing."""
    if count is None:
        return ""
    return f"{MOST_READ:,}+" if count > MOST_READ else f"{count:,}"


def _describe_count(count: int | None) -> str:
    """Say how many documents a list has; nothing where nobody counted them."""
    if count is None:
        return ""
    named = {"count": f"{min(count, MOST_READ):,}"}
    if count > MOST_READ:
        return gettext("More than %(count)s documents.") % named
    return ngettext("%(count)s document.", "%(count)s documents.", count) % named


def _describe_totals(summary: Summary | None) -> list[str] | None:
    """Return the totals by currency; None where they were not added up."""
    if summary is None or summary.totals is None:
        return None
    return [
        Formats(page_language(), each.currency_code, each.minor_unit).money(each.amount)
        for each in summary.totals
    ]


def _sorts(address: Address) -> Iterator[dict[str, Any]]:
    """Yield the orders that can be chosen: the present one leads to its reverse."""
    for order, label in ORDERS.items():
        is_current = order == address.sorting.order
        is_descending = address.sorting.is_descending
        wanted = not is_descending if is_current else order in FIRST_DESCENDING
        yield {
            "name": str(order) or "newest",
            "label": label,
            "is_current": is_current,
            "is_descending": is_descending,
            "href": address.link(sort=_name_sorting(order, is_descending=wanted)),
        }


def _describe_chips(request: SignedInRequest, address: Address) -> dict[str, Any]:
    filters = address.chosen.filters
    asked = read_search(request.GET, "find_customer")
    chips = [
        {
            "chip": chip,
            "remove_href": address.link(**dict.fromkeys(chip.names, "")),
            "hidden": [(k, v) for k, v in address.kept.items() if v and k not in chip.names],
        }
        for chip in describe_filters(request.user, filters)
    ]
    return {
        "chips": chips,
        "kept": [(name, value) for name, value in address.kept.items() if value],
        "form": FilterForm(request.GET),
        "amount_form": FilterForm(request.GET, auto_id="amount_%s"),
        "writers": offer_writers(request.user, filters),
        "writer": address.chosen.kept.get("writer", ""),
        "clear_href": build_query(search=address.search, status=address.tab),
        "find_customer": asked,
        "found_customers": [
            (each, address.link(customer=str(each.pk)))
            for each in _find_customers(request.user, asked)
        ],
    }


def _periods(address: Address, today: date) -> Iterator[tuple[str, str]]:
    """Yield periods that people often ask for, each with its link."""
    month = today.replace(day=1)
    last_month = (month - timedelta(days=1)).replace(day=1)
    begun = {
        gettext("This month"): (month, today),
        gettext("Last month"): (last_month, month - timedelta(days=1)),
        gettext("This year"): (today.replace(month=1, day=1), today),
    }
    for label, (first, last) in begun.items():
        yield label, address.link(first_day=first.isoformat(), last_day=last.isoformat())


def _find_customers(user: User, asked: str) -> list[Customer]:
    """Return some customers with these words, by name."""
    if not asked or not user.has_perm(Permission.VIEW_CUSTOMER):
        return []
    page_request = PageRequest(search=asked, limit=CUSTOMERS_FOUND)
    found, _ = find_customers(user, page_request, active_only=False)
    return sorted(found, key=lambda customer: (customer.name.casefold(), customer.id))


def _link_to_export(user: User, address: Address) -> str:
    """Return the page of exports with the same filters; empty for whoever may export nothing."""
    if not user.has_perms(EXPORT_PERMISSIONS):
        return ""
    kind = "credit_note" if address.tab == Tab.CREDIT_NOTES else ""
    return reverse("exports") + build_query(**address.chosen.kept, type=kind)
